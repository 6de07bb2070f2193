// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Choices other than who goes next: numbers, what is unlikely, which waiter.
#include "harness/base/check.h"
#include "harness/engine/execution.h"

namespace weft::engine {

using trace::ChoiceKind;
using trace::OpKind;

Choice Execution::choice_of(const Task& task, ChoiceKind kind, std::uint16_t nth,
                            std::uint64_t count,
                            std::span<const EnabledTask> candidates) const noexcept {
  return {.kind = kind,
          .at = task.index,
          .at_operation = task.operation_index,
          .nth = nth,
          .step = steps_,
          .digest = digest_,
          .count = count,
          .tasks = candidates};
}

std::uint64_t Execution::choose(Task& task, ChoiceKind kind, std::uint64_t count) noexcept {
  if (count == 1) return 0;
  std::uint16_t& made = task.choices[static_cast<std::size_t>(kind)];
  const std::uint64_t value = strategy_->choose(choice_of(task, kind, made, count));
  heed_complaint();
  WEFT_CHECK(count == 0 || value < count, "a strategy chose a number out of range");
  if (value != 0) log_deviation(task, kind, value, kNoTaskIndex);
  ++made;
  digest_ = fold(digest_, value);
  return value;
}

bool Execution::happens(Task& task, ChoiceKind kind) noexcept {
  std::uint32_t& left = unlikely_left_[static_cast<std::size_t>(kind)];
  if (left == 0) return false;
  std::uint16_t& made = task.choices[static_cast<std::size_t>(kind)];
  // Counted by operation, plain accesses included: whether one of those was a point must not show.
  if (task.unlikely_at != task.operation_index) made = 0;
  task.unlikely_at = task.operation_index;
  const bool yes = strategy_->choose(choice_of(task, kind, made, 2)) == 1;
  heed_complaint();
  if (yes) {
    log_deviation(task, kind, 1, kNoTaskIndex);
    digest_ = fold(digest_, 1);
    --left;
  }
  ++made;
  return yes;
}

Task* Execution::choose_waiter(Task& task, OpKind kind, std::uintptr_t address,
                               std::uint64_t mask) noexcept {
  std::size_t count = 0;
  EnabledTask* candidates = view_.data();
  for (std::size_t i = 0; i < task_count_; ++i) {
    const Task& waiter = tasks_[i];
    if (!waits(waiter, kind, address) || (waiter.pending.flags & mask) == 0) continue;
    // Insertion by arrival: the longest-waiting task is candidate 0.
    std::size_t at = count++;
    for (; at > 0 && tasks_[candidates[at - 1].index].wait_order > waiter.wait_order; --at) {
      candidates[at] = candidates[at - 1];
    }
    candidates[at] = {waiter.index, waiter.kind, waiter.id, waiter.operation_index,
                      &waiter.pending};
  }
  if (count == 0) return nullptr;
  std::size_t position = 0;
  if (count > 1) {
    std::uint16_t& made = task.choices[static_cast<std::size_t>(ChoiceKind::kWaiter)];
    position =
        strategy_->choose(choice_of(task, ChoiceKind::kWaiter, made, count, {candidates, count}));
    heed_complaint();
    WEFT_CHECK(position < count, "a strategy chose a waiter that is not there");
    const Task& chosen = tasks_[candidates[position].index];
    if (position != 0) log_deviation(task, ChoiceKind::kWaiter, chosen.id.value, chosen.index);
    ++made;
    digest_ = fold(digest_, chosen.index);
  }
  return &tasks_[candidates[position].index];
}

std::uint64_t Execution::for_each_waiter(OpKind kind, std::uintptr_t address,
                                         void (*visit)(Task&)) noexcept {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < task_count_; ++i) {
    if (!waits(tasks_[i], kind, address)) continue;
    visit(tasks_[i]);
    ++count;
  }
  return count;
}

}  // namespace weft::engine
