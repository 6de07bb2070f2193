// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Spin locks, read from the object itself.
#pragma once

#include <pthread.h>

namespace weft::model {

/// glibc on x86 (sysdeps/x86_64/nptl/pthread_spin_lock.S): 1 is free, less is taken.
[[nodiscard]] inline bool is_free(const pthread_spinlock_t& lock) noexcept {
  return *const_cast<const volatile pthread_spinlock_t*>(&lock) == 1;
}

}  // namespace weft::model
