// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// C11 threads (<threads.h>). In glibc each object has the layout of its pthread
// counterpart, but its functions do not call pthread's by symbol: so they are the same
// operations here, under C11's names and with C11's answers.
#include <threads.h>

#include <cerrno>

#include "harness/intercept/lock_misuse.h"
#include "harness/intercept/locks.h"
#include "harness/intercept/thread_record.h"

namespace weft::intercept {
namespace {

static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t));
static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t));
static_assert(sizeof(once_flag) == sizeof(pthread_once_t));

pthread_mutex_t* as_pthread(mtx_t* mutex) noexcept {
  return reinterpret_cast<pthread_mutex_t*>(mutex);
}
pthread_cond_t* as_pthread(cnd_t* condition) noexcept {
  return reinterpret_cast<pthread_cond_t*>(condition);
}

int as_c11(int error) noexcept {
  switch (error) {
    case 0: return thrd_success;
    case EBUSY: return thrd_busy;
    case ENOMEM: return thrd_nomem;
    case ETIMEDOUT: return thrd_timedout;
  }
  return thrd_error;
}

std::uint64_t deadline_of(const timespec& until) noexcept {
  return model::VirtualTime::deadline(CLOCK_REALTIME, until);  // C11's TIME_UTC
}

struct Start {
  thrd_start_t function;
  void* argument;
};

void* run_start(void* start) {
  const Start& given = *static_cast<const Start*>(start);
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(given.function(given.argument)));
}

int as_c11_result(void* result) noexcept {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(result));
}

}  // namespace
}  // namespace weft::intercept

using namespace weft::intercept;

WEFT_INTERPOSE int mtx_init(mtx_t* mutex, int type) {
  Task* const self = current_task;
  if (self != nullptr) require_not_held(*self, as_pthread(mutex), WEFT_CALLER);
  return WEFT_REAL(mtx_init)(mutex, type);
}

WEFT_INTERPOSE int mtx_lock(mtx_t* mutex) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(mtx_lock)(mutex);
  return as_c11(lock(*self, as_pthread(mutex), weft::trace::kNever, WEFT_CALLER));
}

WEFT_INTERPOSE int mtx_timedlock(mtx_t* mutex, const timespec* until) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(mtx_timedlock)(mutex, until);
  return as_c11(lock(*self, as_pthread(mutex), deadline_of(*until), WEFT_CALLER));
}

WEFT_INTERPOSE int mtx_trylock(mtx_t* mutex) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(mtx_trylock)(mutex);
  return as_c11(try_lock(*self, as_pthread(mutex), WEFT_CALLER));
}

WEFT_INTERPOSE int mtx_unlock(mtx_t* mutex) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(mtx_unlock)(mutex);
  return as_c11(unlock(*self, as_pthread(mutex), WEFT_CALLER));
}

WEFT_INTERPOSE int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(cnd_wait)(condition, mutex);
  return as_c11(
      wait(*self, as_pthread(condition), as_pthread(mutex), weft::trace::kNever, WEFT_CALLER));
}

WEFT_INTERPOSE int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(cnd_timedwait)(condition, mutex, until);
  return as_c11(
      wait(*self, as_pthread(condition), as_pthread(mutex), deadline_of(*until), WEFT_CALLER));
}

WEFT_INTERPOSE int cnd_signal(cnd_t* condition) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(cnd_signal)(condition);
  signal(*self, as_pthread(condition), WEFT_CALLER);
  return thrd_success;
}

WEFT_INTERPOSE int cnd_broadcast(cnd_t* condition) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(cnd_broadcast)(condition);
  broadcast(*self, as_pthread(condition), WEFT_CALLER);
  return thrd_success;
}

WEFT_INTERPOSE void call_once(once_flag* flag, void (*initialise)()) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(call_once)(flag, initialise);
  run_once(*self, reinterpret_cast<pthread_once_t*>(flag), initialise, WEFT_CALLER);
}

WEFT_INTERPOSE int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(thrd_create)(thread, function, argument);
  Start* const start = self->execution->arena().make<Start>(Start{function, argument});
  return as_c11(create(*self, thread, nullptr, &run_start, start, WEFT_CALLER));
}

WEFT_INTERPOSE int thrd_join(thrd_t thread, int* result) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(thrd_join)(thread, result);
  void* value = nullptr;
  const int error = join(*self, thread, &value, weft::trace::kNever, WEFT_CALLER);
  if (error == 0 && result != nullptr) *result = as_c11_result(value);
  return as_c11(error);
}

WEFT_INTERPOSE int thrd_detach(thrd_t thread) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(thrd_detach)(thread);
  return as_c11(detach(*self, thread, WEFT_CALLER));
}

WEFT_INTERPOSE __attribute__((noreturn)) void thrd_exit(int result) {
  Task* const self = current_task;
  if (self == nullptr) {
    WEFT_REAL(thrd_exit)(result);
    __builtin_unreachable();
  }
  exit_thread(*self, reinterpret_cast<void*>(static_cast<std::intptr_t>(result)));
}
