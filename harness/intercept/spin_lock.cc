// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Spin locks. A task that finds one taken is not enabled, so it never spins.
#include "harness/model/spin_lock.h"
#include "harness/intercept/hot_functions.h"
#include "harness/intercept/interpose.h"
#include "harness/intercept/lock_misuse.h"

namespace weft::intercept {
namespace {

std::uintptr_t address_of(const volatile pthread_spinlock_t* lock) noexcept {
  return reinterpret_cast<std::uintptr_t>(lock);
}

int take(Task& self, pthread_spinlock_t* lock, OpKind kind, std::uintptr_t pc) noexcept {
  announce(self, operation_on(kind, lock, pc));
  const int error = hot.spin_trylock(lock);
  if (error == 0) {
    self.execution->passes_over_waiters(self, address_of(lock), pc);
    self.execution->locks().acquired(address_of(lock), self.index, pc, model::LockKind::kSpin);
    self.execution->acquire(self, address_of(lock));
    self.execution->refresh(address_of(lock));
  }
  self.execution->yielded(self, static_cast<std::uint64_t>(error));
  return error;
}

}  // namespace
}  // namespace weft::intercept

using namespace weft::intercept;

WEFT_INTERPOSE int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_spin_lock)(lock);
  const int error =
      take(*self, const_cast<pthread_spinlock_t*>(lock), OpKind::kSpinLock, WEFT_CALLER);
  WEFT_CHECK(error == 0, "a task that locks a taken spin lock was enabled");
  return 0;
}

WEFT_INTERPOSE int pthread_spin_trylock(pthread_spinlock_t* lock) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_spin_trylock)(lock);
  return take(*self, const_cast<pthread_spinlock_t*>(lock), OpKind::kSpinTryLock, WEFT_CALLER);
}

WEFT_INTERPOSE int pthread_spin_unlock(pthread_spinlock_t* lock) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_spin_unlock)(lock);
  announce(*self, operation_on(OpKind::kSpinUnlock, lock, WEFT_CALLER));
  require_holder(*self, address_of(lock), weft::model::is_free(*lock), "an unlock of a spin lock",
                 WEFT_CALLER);
  self->execution->release(*self, address_of(lock));
  self->execution->locks().released(address_of(lock));
  const int error = hot.spin_unlock(lock);
  self->execution->refresh(address_of(lock));
  return error;
}
