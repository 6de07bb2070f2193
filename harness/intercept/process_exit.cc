// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How a task may try to end the process: each way is a finding.
#include <unistd.h>
#include <cstdlib>

#include "harness/base/text_buffer.h"
#include "harness/intercept/interpose.h"

namespace weft::intercept {
namespace {

[[noreturn]] void fail_exit(Task& self, const char* function, int status) noexcept {
  FixedText<96> text;
  text.append(function).append('(').append_int(status).append(") called by a task");
  self.execution->fail(trace::FindingKind::kProcessExit, text.c_str());
}

[[noreturn]] void fail_assertion(Task& self, const char* expression, const char* file,
                                 unsigned line, const char* function) noexcept {
  FixedText<1024> text;
  text.append("assertion `").append(expression).append("' failed");
  if (function != nullptr) text.append(" in ").append(function);
  self.execution->fail(trace::FindingKind::kAssertion, text.c_str(), file, static_cast<int>(line));
}

}  // namespace
}  // namespace weft::intercept

using namespace weft::intercept;

extern "C" void __assert_fail(const char*, const char*, unsigned, const char*) noexcept
    __attribute__((noreturn));

WEFT_INTERPOSE __attribute__((noreturn)) void __assert_fail(const char* expression,
                                                            const char* file, unsigned line,
                                                            const char* function) noexcept {
  if (Task* const self = current_task) fail_assertion(*self, expression, file, line, function);
  WEFT_REAL(__assert_fail)(expression, file, line, function);
  __builtin_unreachable();
}

WEFT_INTERPOSE __attribute__((noreturn)) void abort() noexcept {
  if (Task* const self = current_task)
    self->execution->fail(weft::trace::FindingKind::kAbort, "abort() called");
  WEFT_REAL(abort)();
  __builtin_unreachable();
}

WEFT_INTERPOSE __attribute__((noreturn)) void exit(int status) noexcept {
  if (Task* const self = current_task) fail_exit(*self, "exit", status);
  WEFT_REAL(exit)(status);
  __builtin_unreachable();
}

WEFT_INTERPOSE __attribute__((noreturn)) void _exit(int status) {
  if (Task* const self = current_task) fail_exit(*self, "_exit", status);
  WEFT_REAL(_exit)(status);
  __builtin_unreachable();
}

WEFT_INTERPOSE __attribute__((noreturn)) void quick_exit(int status) noexcept {
  if (Task* const self = current_task) fail_exit(*self, "quick_exit", status);
  WEFT_REAL(quick_exit)(status);
  __builtin_unreachable();
}
