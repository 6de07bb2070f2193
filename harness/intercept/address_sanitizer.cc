// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What AddressSanitizer asks of the program, answered as an exploration needs it.
// Empty where the code under test has no AddressSanitizer.
#include "harness/intercept/address_sanitizer.h"

#ifdef WEFT_ASAN

#include <sanitizer/asan_interface.h>

#include "harness/base/libfuzzer.h"
#include "harness/base/text_buffer.h"
#include "harness/intercept/interpose.h"

namespace weft::intercept {
namespace {

/// Whose doing the report is; from the report on, the process only dies.
Task* reported = nullptr;

/// "heap-use-after-free: reads 4 bytes at offset 8 of a block of 16 bytes". No addresses: a replay
/// in another process must say the same.
void describe(Execution& execution, const Operation& access, TextBuffer& text) noexcept {
  text.append(__asan_get_report_description());
  const std::size_t size = __asan_get_report_access_size();
  if (size == 0) return;
  text.append(access.kind == OpKind::kPlainWrite ? ": writes " : ": reads ").append_bytes(size);
  engine::HeapBlock block;
  if (!execution.image().find_block(access.address, block)) return;
  text.append(" at offset ").append_uint(access.address - block.begin);
  text.append(" of a block of ").append_uint(block.size);
}

/// libFuzzer's, which keeps the input. It is for the library to call as it dies; here the process
/// dies otherwise.
void (*keep_input)() = nullptr;

/// Called when the report has been printed and the library holds no lock any more.
void on_report(const char*) {
  if (reported == nullptr) return;
  Task& self = *reported;
  if (keep_input != nullptr) keep_input();
  const bool is_write = __asan_get_report_access_type() != 0;
  // What the finding says the task was about to do, and where.
  self.pending =
      operation_on(is_write ? OpKind::kPlainWrite : OpKind::kPlainRead, __asan_get_report_address(),
                   reinterpret_cast<std::uintptr_t>(__asan_get_report_pc()));
  FixedText<256> text;
  describe(*self.execution, self.pending, text);
  current_task = reported;
  const std::size_t size = __asan_get_report_access_size();
  if (size == 0) self.execution->fail(trace::FindingKind::kMemoryError, text.c_str());
  self.execution->memory().sanitizer_found(
      self, is_write ? trace::AccessKind::kWrite : trace::AccessKind::kRead, self.pending.address,
      size, self.pending.pc, text.c_str());
}

}  // namespace

void prepare_sanitizer() noexcept { __asan_set_error_report_callback(&on_report); }

}  // namespace weft::intercept

using namespace weft::intercept;

// Called before the report is printed, for which the library uses what we interpose.
WEFT_INTERPOSE void __asan_on_error() {
  reported = current_task;
  current_task = nullptr;
}

WEFT_INTERPOSE void __sanitizer_set_death_callback(void (*callback)()) {
  if (weft::has_libfuzzer()) keep_input = callback;
  WEFT_REAL(__sanitizer_set_death_callback)(callback);
}

WEFT_INTERPOSE const char* __asan_default_options() {
  // - Stacks for use after return are the library's default on Linux, and said here because they
  //   need our help (base/fake_stack.h).
  // - The library takes down the signal stack of a thread that ends, which is ours.
  // - A leak check at exit does not know the subject's heap.
  // - A finding has source lines; to look them up takes the library seconds in each replay.
  return "detect_stack_use_after_return=1:use_sigaltstack=0:detect_leaks=0:symbolize=0";
}

#endif
