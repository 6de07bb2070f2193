// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is met and not controlled is named, in one clear line, before it can
// block the only running task or change the schedule behind our back.
#include <pthread.h>
#include <signal.h>
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
WEFT_UNSUPPORTED(int, pthread_sigqueue, (pthread_t a, int b, const sigval c) noexcept, a, b, c)
WEFT_UNSUPPORTED(int, tgkill, (pid_t a, pid_t b, int c), a, b, c)
WEFT_UNSUPPORTED(int, pthread_mutex_consistent, (pthread_mutex_t * a) noexcept, a)
