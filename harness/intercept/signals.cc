// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Signal handlers and masks: the kernel keeps them, for the process and for a kernel thread that
// outlives its tasks. What a task changes of them is undone, so that every execution begins alike.
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

#include "harness/base/system_call.h"
#include "harness/engine/crash.h"
#include "harness/engine/subject.h"
#include "harness/intercept/interpose.h"
#include "harness/intercept/per_execution.h"
#include "harness/intercept/thread_record.h"

namespace weft::intercept {

/// What was to happen at a signal before a task changed it.
struct FormerHandler {
  int signal = 0;
  struct sigaction action = {};
  FormerHandler* earlier = nullptr;
};

namespace {

constexpr std::size_t kMaskBytes = 8;  // the kernel's

void note_mask(Task& self) noexcept {
  ThreadRecord& record = record_of(self);
  if (record.mask_changed) return;
  record.mask_changed = true;
  system_call(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &record.mask, kMaskBytes);
}

void note_handler(Task& self, int signal) noexcept {
  PerExecution& execution = per_execution(self);
  for (const FormerHandler* former = execution.former_handlers; former != nullptr;
       former = former->earlier) {
    if (former->signal == signal) return;
  }
  auto* const former = self.execution->arena().make<FormerHandler>();
  former->signal = signal;
  if (WEFT_REAL(sigaction)(signal, nullptr, &former->action) != 0) return;  // no such signal
  former->earlier = execution.former_handlers;
  execution.former_handlers = former;
}

}  // namespace

void give_handlers_back(Execution& execution) noexcept {
  const auto* const state = static_cast<const PerExecution*>(execution.intercept_state);
  if (state == nullptr || state->former_handlers == nullptr) return;
  for (const FormerHandler* former = state->former_handlers; former != nullptr;
       former = former->earlier) {
    WEFT_REAL(sigaction)(former->signal, &former->action, nullptr);
  }
  engine::install_crash_handlers(execution);
}

void give_mask_back(const ThreadRecord& record) noexcept {
  if (record.mask_changed)
    system_call(SYS_rt_sigprocmask, SIG_SETMASK, &record.mask, nullptr, kMaskBytes);
}

}  // namespace weft::intercept

using namespace weft::intercept;

WEFT_INTERPOSE int pthread_sigmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  if (Task* const self = current_task; self != nullptr && set != nullptr) note_mask(*self);
  return WEFT_REAL(pthread_sigmask)(how, set, old);
}

WEFT_INTERPOSE int sigprocmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  if (Task* const self = current_task; self != nullptr && set != nullptr) note_mask(*self);
  return WEFT_REAL(sigprocmask)(how, set, old);
}

WEFT_INTERPOSE int sigaction(int number, const struct sigaction* action,
                             struct sigaction* old) noexcept {
  if (Task* const self = current_task; self != nullptr && action != nullptr)
    note_handler(*self, number);
  return WEFT_REAL(sigaction)(number, action, old);
}

WEFT_INTERPOSE sighandler_t signal(int number, sighandler_t handler) noexcept {
  if (Task* const self = current_task) note_handler(*self, number);
  return WEFT_REAL(signal)(number, handler);
}
