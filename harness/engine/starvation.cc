// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tasks that are passed over while they wait for a lock (bypass_bounds.h).
#include "harness/base/text_buffer.h"
#include "harness/engine/execution.h"

namespace weft::engine {
namespace {

bool waits_for_a_lock(trace::OpKind kind) noexcept {
  switch (trace::wait_kind(kind)) {
    case trace::WaitKind::kLock:
    case trace::WaitKind::kRead:
    case trace::WaitKind::kWrite:
    case trace::WaitKind::kSemaphore:
    case trace::WaitKind::kSpin: return true;
    case trace::WaitKind::kNone:
    case trace::WaitKind::kWake:
    case trace::WaitKind::kTime:
    case trace::WaitKind::kTask:
    case trace::WaitKind::kOnce:
    case trace::WaitKind::kGuard:
    case trace::WaitKind::kOwner:
    case trace::WaitKind::kOutside: return false;
  }
  return false;
}

}  // namespace

void Execution::pass_waiters_over(Task& self, std::uintptr_t lock, std::uintptr_t pc,
                                  bool shared) noexcept {
  const std::uint64_t most = bypass_bounds_.of(lock);
  // Who has a recursive lock already passes nobody over.
  if (most == BypassBounds::kNone || locks_.holder(lock) == self.index) return;
  for (std::size_t i = 0; i < task_count_; ++i) {
    Task& other = tasks_[i];
    if (!other.waited || other.forgiven || other.index == self.index ||
        other.state == TaskState::kEnded || other.pending.address != lock || other.timed_out ||
        !waits_for_a_lock(other.pending.kind))
      continue;
    if (shared && trace::wait_kind(other.pending.kind) == trace::WaitKind::kRead) continue;
    if (++other.passed_over <= most) continue;
    trace::Finding& finding = channel_.finding;
    finding.object = object_of(lock);
    finding.starved = {other.index, other.waits_since, other.passed_over, most};
    FixedText<256> text;
    text.append("a task that waits for a lock was passed over ").append_uint(other.passed_over);
    text.append(other.passed_over == 1 ? " time" : " times");
    text.append("; weft::bounded_bypass allows ").append_uint(most);
    fail_at(self, pc, trace::FindingKind::kStarvation, text.c_str());
  }
}

void Execution::forgive_unfairness(const Task& chosen) noexcept {
  enabled_.for_each([&](TaskIndex index) {
    Task& task = tasks_[index];
    if (!task.waited || index == chosen.index) return;
    if (++task.left_out >= kFairPatience) task.forgiven = true;
  });
}

}  // namespace weft::engine
