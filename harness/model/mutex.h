// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Mutexes of every glibc kind, read from the object itself.
//
// The state stays in the real pthread_mutex_t: interposers call glibc's own
// trylock and unlock, so error codes, recursion counts and kinds come for free
// and uninstrumented code sees the truth. What glibc cannot say is *which task*
// holds it; LockTable remembers that.
#pragma once

#include <pthread.h>

#include <cstdint>

namespace weft::model {

enum class MutexKind : std::uint8_t {
  kNormal,
  kRecursive,
  kErrorCheck,
  kAdaptive,
  kUnsupported,
  kDestroyed,
};

/// glibc 2.36, nptl/pthreadP.h: the low two bits are the type, 16 robust,
/// 32 priority-inheriting, 64 priority-protecting; 256 and 512 concern elision.
/// pthread_mutex_destroy() leaves -1.
[[nodiscard]] inline MutexKind kind_of(const pthread_mutex_t& mutex) noexcept {
  const int kind = mutex.__data.__kind;
  if (kind == -1) return MutexKind::kDestroyed;
  if ((kind & (16 | 32 | 64)) != 0) return MutexKind::kUnsupported;
  return static_cast<MutexKind>(kind & 3);
}

[[nodiscard]] inline bool is_free(const pthread_mutex_t& mutex) noexcept {
  return *const_cast<const volatile int*>(&mutex.__data.__lock) == 0;
}

/// Whether lock() by a task returns (with success or an error) instead of waiting.
[[nodiscard]] inline bool lock_returns(const pthread_mutex_t& mutex, bool held_by_caller) noexcept {
  if (is_free(mutex)) return true;
  if (!held_by_caller) return false;
  const MutexKind kind = kind_of(mutex);
  return kind == MutexKind::kRecursive || kind == MutexKind::kErrorCheck;
}

}  // namespace weft::model
