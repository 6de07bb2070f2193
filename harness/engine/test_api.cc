// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/engine/test_api.h"

#include <cstring>

#include "harness/base/check.h"
#include "harness/engine/execution.h"

namespace weft::engine {
namespace {

std::uint64_t hash_text(const char* text) noexcept {
  std::uint64_t hash = 0;
  for (; *text != '\0'; ++text) hash = fold(hash, static_cast<unsigned char>(*text));
  return hash;
}

/// The channel's row for `what`, entered at first sight; null when the table is full.
trace::Mark* find_mark(trace::Channel& channel, const char* what) noexcept {
  const std::uint64_t id = hash_text(what);
  for (std::uint64_t i = 0; i < channel.mark_count; ++i) {
    if (channel.marks[i].id == id) return &channel.marks[i];
  }
  if (channel.mark_count == trace::kMaxMarks) return nullptr;
  trace::Mark& mark = channel.marks[channel.mark_count++];
  mark.id = id;
  std::strncpy(mark.text, what, sizeof mark.text - 1);
  return &mark;
}

}  // namespace

bool on_task() noexcept { return current_task != nullptr; }

void check_always(bool condition, const char* what, std::uintptr_t pc) {
  if (condition) return;
  Task& self = *current_task;
  self.pending.pc = pc;  // the stack is told from the subject's call onwards
  self.execution->fail(trace::FindingKind::kAlways, what);
}

void mark_sometimes(bool condition, const char* what) {
  Task& self = *current_task;
  const InterceptionOff off;
  trace::Channel& channel = self.execution->channel();
  trace::Mark* const mark = find_mark(channel, what);
  if (mark == nullptr || !condition) return;
  const std::uint64_t execution = channel.current.load(std::memory_order_relaxed) + 1;
  if (mark->last_execution == execution) return;
  mark->last_execution = execution;
  ++mark->hits;
}

std::uint64_t choose(std::uint64_t n, std::uintptr_t pc) {
  Task& self = *current_task;
  if (n == 0) {
    self.execution->fail(trace::FindingKind::kUserError,
                         "weft::choose(0): there must be something to choose from");
  }
  trace::Operation op;
  op.kind = trace::OpKind::kUserChoice;
  op.pc = pc;
  op.argument = n;
  self.execution->point(self, op);
  const std::uint64_t value = self.execution->choose(self, trace::ChoiceKind::kUser, n);
  self.execution->yielded(self, value);
  return value;
}

void add_invariant(bool (*holds)(void*), void* context, const char* what) {
  Task& self = *current_task;
  if (!self.execution->add_invariant(holds, context, what)) {
    self.execution->fail(trace::FindingKind::kUserError,
                         "more than 64 invariants in one execution");
  }
}

void bound_bypass(std::uintptr_t lock, std::uint64_t most) {
  Execution& execution = *current_task->execution;
  if (lock == 0) return execution.bypass_bounds().bound_all(most);
  if (!execution.bypass_bounds().bound(lock, most)) {
    execution.fail(trace::FindingKind::kUserError,
                   "weft::bounded_bypass: more than 64 locks in one execution; bound all of them");
  }
}

void report_expectation(const char* file, int line, const char* message) {
  current_task->execution->fail(trace::FindingKind::kExpectation, message, file, line);
}

}  // namespace weft::engine
