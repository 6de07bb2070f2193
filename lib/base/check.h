// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

namespace weftrt::detail {

// Prints 'weftrt: <what was violated>' on standard error and aborts. Used where going on would
// corrupt memory: a guard destroyed out of order or on another thread, a counter about to overflow.
[[noreturn]] void die(const char* what) noexcept;

// Always on, in release builds too; never placed on a hot path.
inline void check(bool holds, const char* what) noexcept {
  if (!holds) [[unlikely]]
    die(what);
}

}  // namespace weftrt::detail
