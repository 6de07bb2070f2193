// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sleeping and waking without libc: its wrappers are interposed, and set errno.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include <atomic>
#include <cstdint>

#include "harness/base/system_call.h"

namespace weft::executor {

inline void futex_wait(std::atomic<std::int32_t>& word, std::int32_t value) noexcept {
  system_call(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value);
}

/// For a millisecond at most.
inline void futex_wait_briefly(std::atomic<std::int32_t>& word, std::int32_t value) noexcept {
  const timespec limit{0, 1'000'000};
  system_call(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, &limit);
}

inline void futex_wake(std::atomic<std::int32_t>& word) noexcept {
  system_call(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1);
}

}  // namespace weft::executor
