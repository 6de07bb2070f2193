// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sleeps in virtual time, for all that takes a time-out.
#pragma once

#include <time.h>

#include <cstdint>

#include "harness/intercept/interpose.h"

namespace weft::intercept {

/// As the kernel sees it: of others it says EINVAL.
[[nodiscard]] inline bool is_valid(const timespec& time) noexcept {
  return time.tv_sec >= 0 && time.tv_nsec >= 0 && time.tv_nsec < 1'000'000'000;
}

void sleep_until(Task& self, std::uint64_t deadline, std::uintptr_t pc) noexcept;

}  // namespace weft::intercept
