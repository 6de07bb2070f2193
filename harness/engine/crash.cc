// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/engine/crash.h"

#include <cxxabi.h>
#include <signal.h>
#include <ucontext.h>

#include <cstdlib>
#include <exception>
#include <typeinfo>

#include "harness/base/text_buffer.h"
#include "harness/engine/watchdog.h"

namespace weft::engine {
namespace {

/// The slot through which a signal handler finds the worker's execution. Written before the
/// snapshot.
Execution* watched = nullptr;

void on_fatal_signal(int signal, siginfo_t* info, void*) {
  // Of other signals that field holds the sender.
  const bool has_address = trace::has_fault_address(signal);
  watched->fail_in_signal(trace::FindingKind::kFatalSignal, signal,
                          has_address ? reinterpret_cast<std::uintptr_t>(info->si_addr) : 0);
}

void on_watchdog(int, siginfo_t*, void* context) {
  const auto* const state = static_cast<const ucontext_t*>(context);
  watched->fail_hung(static_cast<std::uintptr_t>(state->uc_mcontext.gregs[REG_RIP]));
}

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
  struct sigaction action {};
  sigfillset(&action.sa_mask);
  // SA_RESETHAND: a crash while we report a crash ends the worker at once, and the supervisor
  // reports that.
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND);
  action.sa_sigaction = &on_fatal_signal;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) {
    sigaction(signal, &action, nullptr);
  }
  action.sa_sigaction = &on_watchdog;
  sigaction(kWatchdogSignal, &action, nullptr);
}

}  // namespace weft::engine
