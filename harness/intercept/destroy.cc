// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The ends of locks, condition variables, barriers and semaphores. Each is a point, so
// that another task's use may come before it or after; and what the object ordered ends
// with it, for a new one may take its address.
#include <threads.h>

#include "harness/intercept/hot_functions.h"
#include "harness/intercept/interpose.h"
#include "harness/intercept/lock_misuse.h"

namespace weft::intercept {
namespace {

template <typename Object>
void destroying(Task& self, const Object* object, std::uintptr_t pc) noexcept {
  announce(self, operation_on(OpKind::kDestroy, object, pc));
  require_unused(self, reinterpret_cast<std::uintptr_t>(object), sizeof *object, pc);
  self.execution->ordering().forget(reinterpret_cast<std::uintptr_t>(object));
}

}  // namespace
}  // namespace weft::intercept

using namespace weft::intercept;

WEFT_INTERPOSE int pthread_mutex_destroy(pthread_mutex_t* mutex) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_mutex_destroy)(mutex);
  destroying(*self, mutex, WEFT_CALLER);
  require_not_destroyed(*self, mutex, "a mutex is destroyed", WEFT_CALLER);
  return hot.mutex_destroy(mutex);
}

WEFT_INTERPOSE int pthread_cond_destroy(pthread_cond_t* condition) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_cond_destroy)(condition);
  destroying(*self, condition, WEFT_CALLER);
  return hot.cond_destroy(condition);
}

// glibc's are its pthread counterparts, whose layouts they have (c11_threads.cc).
WEFT_INTERPOSE void mtx_destroy(mtx_t* mutex) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(mtx_destroy)(mutex);
  auto* const as_pthread = reinterpret_cast<pthread_mutex_t*>(mutex);
  destroying(*self, as_pthread, WEFT_CALLER);
  require_not_destroyed(*self, as_pthread, "a mutex is destroyed", WEFT_CALLER);
  hot.mutex_destroy(as_pthread);
}

WEFT_INTERPOSE void cnd_destroy(cnd_t* condition) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(cnd_destroy)(condition);
  auto* const as_pthread = reinterpret_cast<pthread_cond_t*>(condition);
  destroying(*self, as_pthread, WEFT_CALLER);
  hot.cond_destroy(as_pthread);
}

WEFT_INTERPOSE int pthread_rwlock_destroy(pthread_rwlock_t* lock) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_rwlock_destroy)(lock);
  destroying(*self, lock, WEFT_CALLER);
  return hot.rwlock_destroy(lock);
}

WEFT_INTERPOSE int pthread_barrier_destroy(pthread_barrier_t* barrier) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_barrier_destroy)(barrier);
  destroying(*self, barrier, WEFT_CALLER);
  return hot.barrier_destroy(barrier);
}

WEFT_INTERPOSE int sem_destroy(sem_t* semaphore) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(sem_destroy)(semaphore);
  destroying(*self, semaphore, WEFT_CALLER);
  return hot.sem_destroy(semaphore);
}
