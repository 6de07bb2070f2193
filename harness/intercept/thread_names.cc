// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Names and attributes of threads. Those of a task are its own, not its pooled thread's.
#include <cerrno>
#include <cstring>

#include "harness/intercept/hot_functions.h"
#include "harness/intercept/thread_record.h"

using namespace weft::intercept;

WEFT_INTERPOSE int pthread_setname_np(pthread_t thread, const char* name) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_setname_np)(thread, name);
  Task* const task = task_of(*self->execution, thread);
  if (task == nullptr) return ESRCH;
  char(&own)[16] = record_of(*task).name;
  if (std::strlen(name) >= sizeof own) return ERANGE;
  std::strcpy(own, name);
  return 0;
}

WEFT_INTERPOSE int pthread_getname_np(pthread_t thread, char* name, std::size_t size) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_getname_np)(thread, name, size);
  Task* const task = task_of(*self->execution, thread);
  if (task == nullptr) return ESRCH;
  const char(&own)[16] = record_of(*task).name;
  if (size < sizeof own) return ERANGE;
  std::memcpy(name, own, sizeof own);
  return 0;
}

WEFT_INTERPOSE int pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_HOT_OR_REAL(getattr_np, pthread_getattr_np)(thread, attributes);
  Task* const task = task_of(*self->execution, thread);
  if (task == nullptr) return ESRCH;
  const int error = hot.getattr_np(thread, attributes);
  if (error != 0) return error;
  pthread_attr_setdetachstate(attributes,
                              task->detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
  return 0;
}
