// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Condition variables. The model is ours alone: glibc's object stays as it was
// initialised (only its clock is read), and waiters are tasks whose pending
// operation says so.
//
// A wait is two operations: kCondWait releases the mutex and joins the queue in
// one step, as POSIX requires; then kCondBlocked is not enabled until a signal
// or the deadline turns it into kCondReacquire, which wants the mutex back. A wait that is to
// end for no reason goes on to kCondReacquire at once; the scheduler decides when that is.
#include <cerrno>

#include "harness/intercept/lock_misuse.h"
#include "harness/intercept/locks.h"

namespace weft::intercept {
namespace {

/// The clock of pthread_cond_timedwait; glibc 2.36 keeps it in bit 1 of __wrefs.
clockid_t clock_of(const pthread_cond_t* condition) noexcept {
  return (condition->__data.__wrefs & 2) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

/// The woken task's next operation is to take its mutex again.
void wake(Task& waiter) noexcept {
  const auto* const mutex =
      reinterpret_cast<const void*>(static_cast<std::uintptr_t>(waiter.pending.argument));
  waiter.execution->wake(waiter, operation_on(OpKind::kCondReacquire, mutex, waiter.pending.pc));
}

}  // namespace

int wait(Task& self, pthread_cond_t* condition, pthread_mutex_t* mutex, std::uint64_t deadline,
         std::uintptr_t pc) noexcept {
  announce(self, operation_on(OpKind::kCondWait, condition, pc));
  used(self, condition, pc);
  require_not_destroyed(self, mutex, "a mutex is waited with", pc);
  require_held(self, mutex, "a wait on a condition variable with a mutex", pc);
  require_same_mutex(self, condition, mutex, pc);
  if (const int error = unlock_now(self, mutex); error != 0) return error;
  if (self.execution->happens(self, trace::ChoiceKind::kSpurious)) {
    announce(self, operation_on(OpKind::kCondReacquire, mutex, pc));
    return relock_now(self, mutex, pc);
  }
  Operation blocked = operation_on(OpKind::kCondBlocked, condition, pc);
  blocked.argument = reinterpret_cast<std::uintptr_t>(mutex);
  blocked.deadline = deadline;
  blocked.flags = ~0u;
  announce(self, blocked);
  const bool timed_out = self.timed_out;
  const int error = relock_now(self, mutex, pc);
  WEFT_CHECK(error != EBUSY, "a task that reacquires an occupied mutex was enabled");
  if (error != 0) return error;
  return timed_out ? ETIMEDOUT : 0;
}

void signal(Task& self, pthread_cond_t* condition, std::uintptr_t pc) noexcept {
  announce(self, operation_on(OpKind::kCondSignal, condition, pc));
  used(self, condition, pc);
  Task* const waiter = self.execution->choose_waiter(self, OpKind::kCondBlocked,
                                                     reinterpret_cast<std::uintptr_t>(condition));
  if (waiter != nullptr) wake(*waiter);
  const std::uint64_t woken = waiter != nullptr ? 1 : 0;
  self.execution->woke(self, reinterpret_cast<std::uintptr_t>(condition), woken);
  self.execution->yielded(self, woken);
}

void broadcast(Task& self, pthread_cond_t* condition, std::uintptr_t pc) noexcept {
  announce(self, operation_on(OpKind::kCondBroadcast, condition, pc));
  used(self, condition, pc);
  const std::uint64_t woken = self.execution->for_each_waiter(
      OpKind::kCondBlocked, reinterpret_cast<std::uintptr_t>(condition), &wake);
  self.execution->woke(self, reinterpret_cast<std::uintptr_t>(condition), woken);
  self.execution->yielded(self, woken);
}
}  // namespace weft::intercept

using namespace weft::intercept;

WEFT_INTERPOSE int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_cond_wait)(condition, mutex);
  return wait(*self, condition, mutex, weft::trace::kNever, WEFT_CALLER);
}

WEFT_INTERPOSE int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                          const timespec* until) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_cond_timedwait)(condition, mutex, until);
  return wait(*self, condition, mutex,
              weft::model::VirtualTime::deadline(clock_of(condition), *until), WEFT_CALLER);
}

WEFT_INTERPOSE int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                          clockid_t clock, const timespec* until) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_cond_clockwait)(condition, mutex, clock, until);
  return wait(*self, condition, mutex, weft::model::VirtualTime::deadline(clock, *until),
              WEFT_CALLER);
}

WEFT_INTERPOSE int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_cond_signal)(condition);
  signal(*self, condition, WEFT_CALLER);
  return 0;
}

WEFT_INTERPOSE int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_cond_broadcast)(condition);
  broadcast(*self, condition, WEFT_CALLER);
  return 0;
}
