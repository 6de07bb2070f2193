// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/engine/crash.h"

#include <cxxabi.h>
#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <typeinfo>

#include "harness/base/signal_action.h"
#include "harness/base/text_buffer.h"
#include "harness/engine/execution.h"
#include "harness/engine/watchdog.h"

namespace weft::engine {
namespace {

/// The slot through which a signal handler finds the worker's execution. Written before the
/// snapshot.
Execution* watched = nullptr;

constexpr int kFatalSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};

/// Freed memory is filled with 0xdb: whoever uses a pointer from there has that in a register.
bool holds_freed_memory(const ucontext_t& context) noexcept {
  constexpr auto kFreed = static_cast<greg_t>(0xdbdb'dbdb'dbdb'dbdb);
  const auto& registers = context.uc_mcontext.gregs;
  return std::any_of(registers + REG_R8, registers + REG_RIP,
                     [](greg_t value) { return value == kFreed; });
}

void on_fatal_signal(int signal, siginfo_t* info, void* context) {
  if (watched->image().absorbs(signal, *info, context)) return;
  switch (watched->reporting()) {
    case Execution::Reporting::kNot: break;
    case Execution::Reporting::kDescribing: watched->leave_undescribed();
    case Execution::Reporting::kLeaving:
      // The supervisor is told of a worker that vanished.
      ::signal(signal, SIG_DFL);
      return;
  }
  // Of other signals that field holds the sender.
  const bool has_address = trace::has_fault_address(signal);
  // The processor does not tell which address it was that can be none.
  const bool is_wild = signal == SIGSEGV && info->si_code == SI_KERNEL;
  FixedText<128> detail;
  if (is_wild) detail.append("the pointer is wild: it is no address that there can be");
  if (holds_freed_memory(*static_cast<const ucontext_t*>(context))) {
    detail.append(is_wild ? "\n" : "").append("a register holds 0xdbdbdbdbdbdbdbdb, with which ");
    detail.append("freed memory is filled");
  }
  watched->fail_in_signal(trace::FindingKind::kFatalSignal, signal,
                          has_address ? reinterpret_cast<std::uintptr_t>(info->si_addr) : 0,
                          detail.c_str());
}

void on_watchdog(int, siginfo_t*, void* context) { fail_hung(context); }

void append_type_name(TextBuffer& text, const std::type_info& type) {
  int status = 0;
  char* const name = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  text.append(name == nullptr ? type.name() : name);
  std::free(name);
}

/// What ends in std::terminate() without an exception and is not seen elsewhere: the destructor and
/// the assignment of a std::thread that somebody ought to have joined.
bool has_joinable_thread(Execution& execution) noexcept {
  for (std::size_t i = 0; i < execution.task_count(); ++i) {
    const Task& task = execution.task(static_cast<TaskIndex>(i));
    if (task.kind == TaskKind::kThread && task.index != kRootIndex && !task.joined &&
        !task.detached)
      return true;
  }
  return false;
}

[[noreturn]] void on_terminate() {
  FixedText<1024> text;
  {
    const InterceptionOff off;
    const std::type_info* const type = abi::__cxa_current_exception_type();
    if (type == nullptr) {
      text.append("std::terminate() called with no exception in flight");
      if (has_joinable_thread(*watched)) {
        text.append(": a joinable std::thread was destroyed or assigned to");
      }
    } else {
      text.append("uncaught exception of type ");
      append_type_name(text, *type);
      try {
        throw;
      } catch (const std::exception& exception) {
        text.append(": ").append(exception.what());
      } catch (...) {
        // Not a standard exception: the type's name is all there is.
      }
    }
  }
  watched->fail(trace::FindingKind::kUncaughtException, text.c_str());
}

}  // namespace

void install_crash_handlers(Execution& execution) noexcept {
  watched = &execution;
  std::set_terminate(&on_terminate);
  sigset_t blocked;
  sigfillset(&blocked);
  // A crash while we report a crash, of which a damaged stack is the usual cause, is ours as well.
  for (const int signal : kFatalSignals) sigdelset(&blocked, signal);
  for (const int signal : kFatalSignals)
    handle_signal(signal, &on_fatal_signal, SA_ONSTACK | SA_NODEFER, blocked);
  handle_signal(kWatchdogSignal, &on_watchdog, static_cast<int>(SA_ONSTACK | SA_RESETHAND),
                blocked);
}

void fail_hung(const void* context) noexcept {
  const auto* const state = static_cast<const ucontext_t*>(context);
  watched->fail_hung(static_cast<std::uintptr_t>(state->uc_mcontext.gregs[REG_RIP]));
}

}  // namespace weft::engine
