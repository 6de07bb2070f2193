// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/context/allocator.h"

#include <cstdlib>

namespace weftrt {
namespace {

void* system_allocate(void* /*state*/, std::size_t bytes) { return std::malloc(bytes); }
void system_deallocate(void* /*state*/, void* memory, std::size_t /*bytes*/) { std::free(memory); }

}  // namespace

Allocator system_allocator() noexcept {
  return {.allocate_fn = &system_allocate, .deallocate_fn = &system_deallocate};
}

}  // namespace weftrt
