// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Mutexes of every kind that glibc has, but robust and priority-aware ones.
#include <cerrno>

#include "harness/intercept/hot_functions.h"
#include "harness/intercept/interpose.h"
#include "harness/intercept/lock_misuse.h"
#include "harness/intercept/locks.h"
#include "harness/model/mutex.h"

namespace weft::intercept {
namespace {

std::uintptr_t address_of(const pthread_mutex_t* mutex) noexcept {
  return reinterpret_cast<std::uintptr_t>(mutex);
}

void require_supported(Task& self, const pthread_mutex_t* mutex, std::uintptr_t pc) noexcept {
  if (model::kind_of(*mutex) != model::MutexKind::kUnsupported) return;
  used(self, mutex,
       pc);  // does not come back where the memory was freed, which looks like that too
  unsupported(self, "a robust, priority-inheriting or priority-protecting mutex");
}

/// glibc's own answer, now that the engine has found that it will not wait.
int take(Task& self, pthread_mutex_t* mutex, std::uintptr_t pc) noexcept {
  require_not_destroyed(self, mutex, "a mutex is locked", pc);
  const int error = hot.mutex_trylock(mutex);
  if (error == 0) {
    self.execution->passes_over_waiters(self, address_of(mutex), pc);
    self.execution->locks().acquired(address_of(mutex), self.index, pc);
    self.execution->acquire(self, address_of(mutex));
    self.execution->refresh(address_of(mutex));
  }
  return error;
}

}  // namespace

int lock(Task& self, pthread_mutex_t* mutex, std::uint64_t deadline, std::uintptr_t pc) noexcept {
  require_supported(self, mutex, pc);
  Operation op = operation_on(
      deadline == trace::kNever ? OpKind::kMutexLock : OpKind::kMutexTimedLock, mutex, pc);
  op.deadline = deadline;
  announce(self, op);
  used(self, mutex, pc);
  const int error = take(self, mutex, pc);
  if (error != EBUSY) return error;
  // Only two things let an occupied lock's operation return: the owner's check, and the deadline.
  const bool own = self.execution->locks().holder(address_of(mutex)) == self.index;
  return own && model::kind_of(*mutex) == model::MutexKind::kErrorCheck ? EDEADLK : ETIMEDOUT;
}

int try_lock(Task& self, pthread_mutex_t* mutex, std::uintptr_t pc) noexcept {
  require_supported(self, mutex, pc);
  announce(self, operation_on(OpKind::kMutexTryLock, mutex, pc));
  used(self, mutex, pc);
  const int error = take(self, mutex, pc);
  self.execution->yielded(self, static_cast<std::uint64_t>(error));
  return error;
}

int unlock(Task& self, pthread_mutex_t* mutex, std::uintptr_t pc) noexcept {
  announce(self, operation_on(OpKind::kMutexUnlock, mutex, pc));
  used(self, mutex, pc);
  require_not_destroyed(self, mutex, "a mutex is unlocked", pc);
  require_held(self, mutex, "an unlock of a mutex", pc);
  return unlock_now(self, mutex);
}

int unlock_now(Task& self, pthread_mutex_t* mutex) noexcept {
  const int error = hot.mutex_unlock(mutex);
  if (error == 0) {
    self.execution->locks().released(address_of(mutex));
    self.execution->release(self, address_of(mutex));
    self.execution->refresh(address_of(mutex));
  }
  return error;
}

int relock_now(Task& self, pthread_mutex_t* mutex, std::uintptr_t pc) noexcept {
  return take(self, mutex, pc);
}

}  // namespace weft::intercept

using namespace weft::intercept;

WEFT_INTERPOSE int pthread_mutex_init(pthread_mutex_t* mutex,
                                      const pthread_mutexattr_t* attributes) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_mutex_init)(mutex, attributes);
  require_not_held(*self, mutex, WEFT_CALLER);
  return hot.mutex_init(mutex, attributes);
}

WEFT_INTERPOSE int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_mutex_lock)(mutex);
  return lock(*self, mutex, weft::trace::kNever, WEFT_CALLER);
}

WEFT_INTERPOSE int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_mutex_trylock)(mutex);
  return try_lock(*self, mutex, WEFT_CALLER);
}

WEFT_INTERPOSE int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_mutex_timedlock)(mutex, until);
  return lock(*self, mutex, weft::model::VirtualTime::deadline(CLOCK_REALTIME, *until),
              WEFT_CALLER);
}

WEFT_INTERPOSE int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                           const timespec* until) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_mutex_clocklock)(mutex, clock, until);
  return lock(*self, mutex, weft::model::VirtualTime::deadline(clock, *until), WEFT_CALLER);
}

WEFT_INTERPOSE int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_mutex_unlock)(mutex);
  return unlock(*self, mutex, WEFT_CALLER);
}
