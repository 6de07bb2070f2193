// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// System calls that must not pass through the interposers.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstdint>

namespace weft::executor {

inline long raw_syscall(long number, long a = 0, long b = 0, long c = 0, long d = 0) noexcept {
  long result;
  register long r10 asm("r10") = d;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
               : "rcx", "r11", "memory");
  return result;
}

inline void raw_futex_wait(std::atomic<std::int32_t>& word, std::int32_t value) noexcept {
  raw_syscall(SYS_futex, reinterpret_cast<long>(&word), FUTEX_WAIT_PRIVATE, value);
}

inline void raw_futex_wake(std::atomic<std::int32_t>& word) noexcept {
  raw_syscall(SYS_futex, reinterpret_cast<long>(&word), FUTEX_WAKE_PRIVATE, 1);
}

}  // namespace weft::executor
