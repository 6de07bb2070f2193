// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Readers-writer locks, read from the object itself as mutexes are (mutex.h).
#pragma once

#include <pthread.h>

namespace weft::model {

/// glibc 2.36, nptl/pthread_rwlock_common.c: in __readers, bit 0 says that the phase is a
/// writer's, bit 1 that a writer holds it or wants to; from bit 3 on readers are counted. A writer
/// that waits inside glibc would set bit 1 as well; under us no task ever waits there.
namespace rwlock {
inline constexpr unsigned kWritePhase = 1;
inline constexpr unsigned kWriteLocked = 2;
inline constexpr unsigned kReaderShift = 3;
[[nodiscard]] inline unsigned word(const pthread_rwlock_t& lock) noexcept {
  return *const_cast<const volatile unsigned*>(&lock.__data.__readers);
}
[[nodiscard]] inline bool is_write_locked(const pthread_rwlock_t& lock) noexcept {
  return (word(lock) & kWriteLocked) != 0;
}
[[nodiscard]] inline bool has_readers(const pthread_rwlock_t& lock) noexcept {
  return (word(lock) & kWritePhase) == 0 && (word(lock) >> kReaderShift) != 0;
}
[[nodiscard]] inline unsigned readers(const pthread_rwlock_t& lock) noexcept {
  return has_readers(lock) ? word(lock) >> kReaderShift : 0;
}
}  // namespace rwlock

/// Whether a writer that waits holds back readers that come later. Of glibc's kinds only
/// PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP does (nptl/pthread_rwlock_common.c, "recursive
/// read locks"): PTHREAD_RWLOCK_PREFER_WRITER_NP lets them pass, as a reader that reads again must.
[[nodiscard]] inline bool prefers_writers(const pthread_rwlock_t& lock) noexcept {
  return lock.__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}

/// Whether a task's lock returns, with success or EDEADLK, instead of waiting for who holds it.
[[nodiscard]] inline bool read_lock_returns(const pthread_rwlock_t& lock,
                                            bool written_by_caller) noexcept {
  return !rwlock::is_write_locked(lock) || written_by_caller;
}

/// A reader that wants to write waits for itself, for ever.
[[nodiscard]] inline bool write_lock_returns(const pthread_rwlock_t& lock,
                                             bool written_by_caller) noexcept {
  if (rwlock::is_write_locked(lock)) return written_by_caller;
  return !rwlock::has_readers(lock);
}

}  // namespace weft::model
