// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Readers-writer locks; std::shared_mutex and std::shared_timed_mutex stand on them.
//
// Readers are ordered before the next writer, not among each other: what they release
// lies beside the lock's address, where only writers look.
#include <cerrno>

#include "harness/intercept/hot_functions.h"
#include "harness/intercept/interpose.h"
#include "harness/intercept/lock_misuse.h"
#include "harness/model/rwlock.h"

namespace weft::intercept {
namespace {

std::uintptr_t address_of(const pthread_rwlock_t* lock) noexcept {
  return reinterpret_cast<std::uintptr_t>(lock);
}

std::uintptr_t readers_of(const pthread_rwlock_t* lock) noexcept { return address_of(lock) + 1; }

int take_shared(Task& self, pthread_rwlock_t* lock, std::uintptr_t pc) noexcept {
  // A writer that waits under us is not known to glibc.
  if (self.execution->holds_readers_back(address_of(lock))) return EBUSY;
  const int error = hot.rwlock_tryrdlock(lock);
  if (error == 0) {
    self.execution->passes_over_waiters(self, address_of(lock), pc, true);
    self.execution->locks().acquired_shared(address_of(lock), self.index, pc);
    self.execution->acquire(self, address_of(lock));
    self.execution->refresh(address_of(lock));
  }
  return error;
}

int take_exclusive(Task& self, pthread_rwlock_t* lock, std::uintptr_t pc) noexcept {
  const int error = hot.rwlock_trywrlock(lock);
  if (error == 0) {
    self.execution->passes_over_waiters(self, address_of(lock), pc);
    self.execution->locks().acquired(address_of(lock), self.index, pc,
                                     model::LockKind::kReadersWriter);
    self.execution->acquire(self, address_of(lock));
    self.execution->acquire(self, readers_of(lock));
    self.execution->refresh(address_of(lock));
  }
  return error;
}

using Take = int(Task&, pthread_rwlock_t*, std::uintptr_t) noexcept;

int lock_by(Task& self, Take take, OpKind kind, pthread_rwlock_t* lock, std::uint64_t deadline,
            std::uintptr_t pc) noexcept {
  Operation op = operation_on(kind, lock, pc);
  op.deadline = deadline;
  announce(self, op);
  int error = take(self, lock, pc);
  // An occupied lock's operation returns for two reasons only: the caller writes, or its time is
  // up.
  if (error == EBUSY) {
    const bool own = self.execution->locks().holder(address_of(lock)) == self.index;
    error = own ? EDEADLK : ETIMEDOUT;
  }
  self.execution->yielded(self, static_cast<std::uint64_t>(error));
  return error;
}

int lock_shared(Task& self, pthread_rwlock_t* lock, std::uint64_t deadline,
                std::uintptr_t pc) noexcept {
  const bool timed = deadline != trace::kNever;
  return lock_by(self, take_shared, timed ? OpKind::kReadTimedLock : OpKind::kReadLock, lock,
                 deadline, pc);
}

int lock_exclusive(Task& self, pthread_rwlock_t* lock, std::uint64_t deadline,
                   std::uintptr_t pc) noexcept {
  const bool timed = deadline != trace::kNever;
  return lock_by(self, take_exclusive, timed ? OpKind::kWriteTimedLock : OpKind::kWriteLock, lock,
                 deadline, pc);
}

int try_lock(Task& self, Take take, OpKind kind, pthread_rwlock_t* lock,
             std::uintptr_t pc) noexcept {
  announce(self, operation_on(kind, lock, pc));
  const int error = take(self, lock, pc);
  self.execution->yielded(self, static_cast<std::uint64_t>(error));
  return error;
}

int unlock(Task& self, pthread_rwlock_t* lock, std::uintptr_t pc) noexcept {
  announce(self, operation_on(OpKind::kRwUnlock, lock, pc));
  require_held(self, lock, pc);
  const bool exclusive = model::rwlock::is_write_locked(*lock);
  const int error = hot.rwlock_unlock(lock);
  if (error != 0) return error;
  if (exclusive) {
    self.execution->locks().released(address_of(lock));
    self.execution->release(self, address_of(lock));
  } else {
    self.execution->locks().released_shared(address_of(lock), self.index);
    self.execution->release(self, readers_of(lock));
  }
  self.execution->refresh(address_of(lock));
  return 0;
}

}  // namespace
}  // namespace weft::intercept

using namespace weft::intercept;
using weft::model::VirtualTime;

WEFT_INTERPOSE int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_rwlock_rdlock)(lock);
  return lock_shared(*self, lock, weft::trace::kNever, WEFT_CALLER);
}

WEFT_INTERPOSE int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_rwlock_wrlock)(lock);
  return lock_exclusive(*self, lock, weft::trace::kNever, WEFT_CALLER);
}

WEFT_INTERPOSE int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_rwlock_tryrdlock)(lock);
  return try_lock(*self, take_shared, OpKind::kReadTryLock, lock, WEFT_CALLER);
}

WEFT_INTERPOSE int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_rwlock_trywrlock)(lock);
  return try_lock(*self, take_exclusive, OpKind::kWriteTryLock, lock, WEFT_CALLER);
}

WEFT_INTERPOSE int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock,
                                              const timespec* until) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_rwlock_timedrdlock)(lock, until);
  return lock_shared(*self, lock, VirtualTime::deadline(CLOCK_REALTIME, *until), WEFT_CALLER);
}

WEFT_INTERPOSE int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock,
                                              const timespec* until) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_rwlock_timedwrlock)(lock, until);
  return lock_exclusive(*self, lock, VirtualTime::deadline(CLOCK_REALTIME, *until), WEFT_CALLER);
}

WEFT_INTERPOSE int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                              const timespec* until) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_rwlock_clockrdlock)(lock, clock, until);
  return lock_shared(*self, lock, VirtualTime::deadline(clock, *until), WEFT_CALLER);
}

WEFT_INTERPOSE int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                              const timespec* until) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_rwlock_clockwrlock)(lock, clock, until);
  return lock_exclusive(*self, lock, VirtualTime::deadline(clock, *until), WEFT_CALLER);
}

WEFT_INTERPOSE int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_rwlock_unlock)(lock);
  return unlock(*self, lock, WEFT_CALLER);
}
