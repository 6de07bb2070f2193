// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is met and not controlled is named, in one clear line, before it can
// block the only running task or change the schedule behind our back.
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

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

// Other programs: they run beside the schedule, and one that takes this process's place ends it.
WEFT_UNSUPPORTED(int, execv, (const char* a, char* const* b) noexcept, a, b)
WEFT_UNSUPPORTED(int, execve, (const char* a, char* const* b, char* const* c) noexcept, a, b, c)
WEFT_UNSUPPORTED(int, execvp, (const char* a, char* const* b) noexcept, a, b)
WEFT_UNSUPPORTED(int, execvpe, (const char* a, char* const* b, char* const* c) noexcept, a, b, c)
WEFT_UNSUPPORTED(int, fexecve, (int a, char* const* b, char* const* c) noexcept, a, b, c)
WEFT_UNSUPPORTED(int, system, (const char* a), a)
WEFT_UNSUPPORTED(FILE*, popen, (const char* a, const char* b), a, b)
WEFT_UNSUPPORTED(int, posix_spawn,
                 (pid_t * a, const char* b, const posix_spawn_file_actions_t* c,
                  const posix_spawnattr_t* d, char* const* e, char* const* f),
                 a, b, c, d, e, f)
WEFT_UNSUPPORTED(int, posix_spawnp,
                 (pid_t * a, const char* b, const posix_spawn_file_actions_t* c,
                  const posix_spawnattr_t* d, char* const* e, char* const* f),
                 a, b, c, d, e, f)

/// Outside tasks a fork, as POSIX allows: no function can stand between a vfork and its caller.
WEFT_INTERPOSE pid_t vfork() noexcept {
  if (Task* const self = current_task) unsupported(*self, "vfork()");
  return WEFT_REAL(fork)();
}

namespace {

/// The arguments of an exec function after the first, and the null that ends them.
class ArgumentVector {
 public:
  static constexpr std::size_t kMost = 4096;

  /// False: too many.
  bool take(const char* first, va_list& rest) noexcept {
    const char* next = first;
    for (std::size_t i = 0; i < kMost; ++i) {
      vector_[i] = const_cast<char*>(next);
      if (next == nullptr) return true;
      next = va_arg(rest, const char*);
    }
    return false;
  }
  [[nodiscard]] char* const* get() const noexcept { return vector_; }

 private:
  char* vector_[kMost];
};

}  // namespace

#define WEFT_EXEC_LIST(name, last, forward)                              \
  WEFT_INTERPOSE int name(const char* a, const char* b, ...) noexcept {  \
    if (Task* const self = current_task) unsupported(*self, #name "()"); \
    ArgumentVector arguments;                                            \
    va_list rest;                                                        \
    va_start(rest, b);                                                   \
    const bool fits = arguments.take(b, rest);                           \
    last;                                                                \
    va_end(rest);                                                        \
    if (fits) return forward;                                            \
    errno = E2BIG;                                                       \
    return -1;                                                           \
  }

WEFT_EXEC_LIST(execl, , WEFT_REAL(execv)(a, arguments.get()))
WEFT_EXEC_LIST(execlp, , WEFT_REAL(execvp)(a, arguments.get()))
WEFT_EXEC_LIST(execle, char* const* const environment = fits ? va_arg(rest, char* const*) : nullptr,
               WEFT_REAL(execve)(a, arguments.get(), environment))

// Timers in real time: they end in a signal, or make a descriptor ready.
WEFT_UNSUPPORTED(unsigned, alarm, (unsigned a) noexcept, a)
WEFT_UNSUPPORTED(int, setitimer,
                 (__itimer_which_t a, const struct itimerval* b, struct itimerval* c) noexcept, a,
                 b, c)
WEFT_UNSUPPORTED(int, timer_create, (clockid_t a, struct sigevent* b, timer_t* c) noexcept, a, b, c)
WEFT_UNSUPPORTED(int, timerfd_create, (clockid_t a, int b) noexcept, a, b)
