// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What an execution that came to its end has left behind: threads that nobody
// joined or detached, and memory that nothing refers to.
#include <span>

#include "harness/base/text_buffer.h"
#include "harness/engine/execution.h"

namespace weft::engine {

using trace::FindingKind;

void Execution::check_leftovers() noexcept {
  if (channel_.phase.load(std::memory_order_relaxed) == trace::WorkerPhase::kWarmUp) return;
  check_overruns();
  if (!config_.detect_leaks) return;
  bool all_ended = true;
  for (std::size_t i = 0; i < task_count_; ++i) {
    const Task& task = tasks_[i];
    if (task.kind != TaskKind::kThread || task.index == kRootIndex) continue;
    if (task.state != TaskState::kEnded) all_ended = false;
    if (task.joined || task.detached) continue;
    channel_.finding.object = {task.id.value, 0, 0, ObjectSpace::kTask};
    fail(FindingKind::kThreadLeak, "a thread is neither joined nor detached at the end");
  }
  // A detached thread that was dropped may still refer to anything.
  if (all_ended) check_leaks();
}

/// Who allocated the block that the finding is about.
void Execution::blame_allocation(const HeapBlock& first) noexcept {
  trace::Finding& finding = channel_.finding;
  finding.access_count = 0;
  for (std::size_t i = 0; i < task_count_; ++i) {
    const Task& task = tasks_[i];
    if (task.id != first.allocated.task) continue;
    trace::FindingAccess& access = finding.accesses[finding.access_count++];
    access = trace::FindingAccess{};
    access.task = task.index;
    access.kind = trace::AccessKind::kAllocate;
    access.size = first.size;
    access.operation_index = first.allocated.operation;
    access.stack.count = 1;
    access.stack.frames[0] = image_.site_of(first.allocated.pc - 1);
    take_seen_stacks();
    break;
  }
  finding.object = object_of(first.begin);
}

void Execution::check_overruns() noexcept {
  HeapBlock first;
  if (!config_.detect_races || !image_.find_overrun(first)) return;
  blame_allocation(first);
  FixedText<160> text;
  text.append("heap overrun: something wrote behind the end of a block of ");
  text.append_bytes(first.size).append(", which nobody freed");
  fail(FindingKind::kMemoryError, text.c_str());
}

void Execution::check_leaks() noexcept {
  HeapBlock first;
  // weft::invariant() keeps in the subject's heap what it is given.
  const std::size_t count =
      image_.find_leaks(first, std::as_bytes(std::span(invariants_, invariant_count_)));
  if (count == 0) return;
  blame_allocation(first);
  FixedText<160> text;
  text.append("leak: nothing refers to a block of ").append_bytes(first.size);
  if (count > 1) text.append(", nor to ").append_uint(count - 1).append(" more");
  text.append(" at the end");
  fail(FindingKind::kLeak, text.c_str());
}

}  // namespace weft::engine
