// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// POSIX semaphores, once they are there; how named ones come to be is in
// named_semaphore.cc.
#include <semaphore.h>

#include <cerrno>

#include "harness/intercept/hot_functions.h"
#include "harness/intercept/interpose.h"
#include "harness/model/semaphore.h"

namespace weft::intercept {
namespace {

/// 0, or the error that the function leaves in errno.
int take(Task& self, sem_t* semaphore, const Operation& op) noexcept {
  announce(self, op);
  if (hot.sem_trywait(semaphore) != 0) return errno;
  self.execution->passes_over_waiters(self, op.address, op.pc);
  self.execution->acquire(self, op.address);
  self.execution->refresh(op.address);
  return 0;
}

int result_of(int error) noexcept {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

int wait_until(Task& self, sem_t* semaphore, clockid_t clock, const timespec& until,
               std::uintptr_t pc) noexcept {
  if (until.tv_nsec < 0 || until.tv_nsec >= 1'000'000'000) return result_of(EINVAL);
  Operation op = operation_on(OpKind::kSemTimedWait, semaphore, pc);
  op.deadline = model::VirtualTime::deadline(clock, until);
  const int error = take(self, semaphore, op) == 0 ? 0 : ETIMEDOUT;
  self.execution->yielded(self, static_cast<std::uint64_t>(error));
  return result_of(error);
}

}  // namespace
}  // namespace weft::intercept

using namespace weft::intercept;

WEFT_INTERPOSE int sem_wait(sem_t* semaphore) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(sem_wait)(semaphore);
  const int error = take(*self, semaphore, operation_on(OpKind::kSemWait, semaphore, WEFT_CALLER));
  WEFT_CHECK(error == 0, "a task that waits on a semaphore of value 0 was enabled");
  self->execution->yielded(*self, weft::model::semaphore_value(*semaphore));
  return 0;
}

WEFT_INTERPOSE int sem_trywait(sem_t* semaphore) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(sem_trywait)(semaphore);
  const int error =
      take(*self, semaphore, operation_on(OpKind::kSemTryWait, semaphore, WEFT_CALLER));
  self->execution->yielded(*self, static_cast<std::uint64_t>(error));
  return result_of(error);
}

WEFT_INTERPOSE int sem_timedwait(sem_t* semaphore, const timespec* until) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(sem_timedwait)(semaphore, until);
  return wait_until(*self, semaphore, CLOCK_REALTIME, *until, WEFT_CALLER);
}

WEFT_INTERPOSE int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* until) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(sem_clockwait)(semaphore, clock, until);
  return wait_until(*self, semaphore, clock, *until, WEFT_CALLER);
}

WEFT_INTERPOSE int sem_post(sem_t* semaphore) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(sem_post)(semaphore);
  const Operation op = operation_on(OpKind::kSemPost, semaphore, WEFT_CALLER);
  announce(*self, op);
  const int result = hot.sem_post(semaphore);
  if (result == 0) self->execution->release(*self, op.address);
  self->execution->refresh(op.address);
  self->execution->yielded(*self, weft::model::semaphore_value(*semaphore));
  return result;
}

WEFT_INTERPOSE int sem_getvalue(sem_t* semaphore, int* value) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(sem_getvalue)(semaphore, value);
  // A look without waiting, and without order.
  announce(*self, operation_on(OpKind::kSemTryWait, semaphore, WEFT_CALLER));
  *value = static_cast<int>(weft::model::semaphore_value(*semaphore));
  return 0;
}
