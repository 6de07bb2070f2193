// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What operator new and delete are made of.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/base/allocation_family.h"

namespace weft::intercept {

/// For the call at `pc`; null where there is no memory.
[[nodiscard]] void* allocate_new(std::size_t bytes, std::size_t alignment, AllocationFamily family,
                                 std::uintptr_t pc) noexcept;
/// `pointer` may be null.
void release_new(void* pointer, AllocationFamily family, std::uintptr_t pc) noexcept;

}  // namespace weft::intercept
