// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is met and not controlled is named, in one clear line, before it can
// block the only running task or change the schedule behind our back.
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <threads.h>
#include <unistd.h>

#include "harness/base/text_buffer.h"
#include "harness/intercept/interpose.h"

namespace weft::intercept {

[[noreturn]] void unsupported(Task& self, const char* what) noexcept {
  FixedText<256> text;
  text.append(what).append(
      " is not controlled yet: keep it out of the explored code, or stub it in the test");
  self.execution->fail(trace::FindingKind::kUnsupported, text.c_str());
}

}  // namespace weft::intercept

using namespace weft::intercept;

// The arguments are forwarded unseen: outside a task the call is libc's own business.
#define WEFT_UNSUPPORTED(Result, name, parameters, ...)                  \
  WEFT_INTERPOSE Result name parameters {                                \
    if (Task* const self = current_task) unsupported(*self, #name "()"); \
    return WEFT_REAL(name)(__VA_ARGS__);                                 \
  }

WEFT_UNSUPPORTED(int, pthread_cancel, (pthread_t a), a)
WEFT_UNSUPPORTED(int, pthread_kill, (pthread_t a, int b) noexcept, a, b)
WEFT_UNSUPPORTED(pid_t, fork, () noexcept)
WEFT_UNSUPPORTED(int, pthread_rwlock_rdlock, (pthread_rwlock_t * a) noexcept, a)
WEFT_UNSUPPORTED(int, pthread_rwlock_wrlock, (pthread_rwlock_t * a) noexcept, a)
WEFT_UNSUPPORTED(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t * a) noexcept, a)
WEFT_UNSUPPORTED(int, pthread_rwlock_trywrlock, (pthread_rwlock_t * a) noexcept, a)
WEFT_UNSUPPORTED(int, pthread_rwlock_timedrdlock,
                 (pthread_rwlock_t * a, const timespec* b) noexcept, a, b)
WEFT_UNSUPPORTED(int, pthread_rwlock_timedwrlock,
                 (pthread_rwlock_t * a, const timespec* b) noexcept, a, b)
WEFT_UNSUPPORTED(int, pthread_rwlock_clockrdlock,
                 (pthread_rwlock_t * a, clockid_t b, const timespec* c) noexcept, a, b, c)
WEFT_UNSUPPORTED(int, pthread_rwlock_clockwrlock,
                 (pthread_rwlock_t * a, clockid_t b, const timespec* c) noexcept, a, b, c)
WEFT_UNSUPPORTED(int, pthread_barrier_wait, (pthread_barrier_t * a) noexcept, a)
WEFT_UNSUPPORTED(int, pthread_spin_lock, (pthread_spinlock_t * a) noexcept, a)
WEFT_UNSUPPORTED(int, sem_wait, (sem_t * a), a)
WEFT_UNSUPPORTED(int, sem_timedwait, (sem_t * a, const timespec* b), a, b)
WEFT_UNSUPPORTED(int, sem_clockwait, (sem_t * a, clockid_t b, const timespec* c), a, b, c)
WEFT_UNSUPPORTED(int, mtx_lock, (mtx_t * a), a)
WEFT_UNSUPPORTED(int, mtx_timedlock, (mtx_t * a, const timespec* b), a, b)
WEFT_UNSUPPORTED(int, cnd_wait, (cnd_t * a, mtx_t* b), a, b)
WEFT_UNSUPPORTED(int, cnd_timedwait, (cnd_t * a, mtx_t* b, const timespec* c), a, b, c)
WEFT_UNSUPPORTED(int, thrd_create, (thrd_t * a, thrd_start_t b, void* c), a, b, c)
WEFT_UNSUPPORTED(int, thrd_join, (thrd_t a, int* b), a, b)
