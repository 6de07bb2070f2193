// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstdint>

namespace weft {

/// Functions that allocate, and with them those that may free what they gave out. Arrays are told
/// apart only with AddressSanitizer (intercept/operator_new.cc).
enum class AllocationFamily : std::uint8_t { kMalloc, kNew, kNewArray };

[[nodiscard]] constexpr const char* allocating_function(AllocationFamily family) noexcept {
  switch (family) {
    case AllocationFamily::kMalloc: return "malloc";
    case AllocationFamily::kNew: return "new";
    case AllocationFamily::kNewArray: return "new[]";
  }
  __builtin_unreachable();
}

[[nodiscard]] constexpr const char* freeing_function(AllocationFamily family) noexcept {
  switch (family) {
    case AllocationFamily::kMalloc: return "free";
    case AllocationFamily::kNew: return "delete";
    case AllocationFamily::kNewArray: return "delete[]";
  }
  __builtin_unreachable();
}

}  // namespace weft
