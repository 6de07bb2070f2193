// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Objects that live as long as the process, each in a mapping of its own: the executable's segments
// are restored between executions, these must not be.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#include "harness/base/mapping.h"

namespace weft {

/// Never destroyed. Thread-safety: any thread.
template <typename T, typename... Arguments>
T& make_immortal(Arguments&&... arguments) noexcept {
  struct Kept {
    Mapping memory;  // that this lies in: nobody is left to unmap it
    alignas(T) std::byte object[sizeof(T)];
  };
  static_assert(alignof(Kept) <= kPageBytes);
  Mapping memory(sizeof(Kept));
  auto* const kept = ::new (static_cast<void*>(memory.data())) Kept;
  kept->memory = std::move(memory);
  return *::new (static_cast<void*>(kept->object)) T(std::forward<Arguments>(arguments)...);
}

}  // namespace weft
