// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/strategies/pct.h"

#include <algorithm>

#include "harness/base/check.h"
#include "harness/strategies/operation_traits.h"

namespace weft::strategies {
namespace {

// A loop around a plain load must come before Fairness at last: after 2,000 times this many
// accesses, some milliseconds. One point in 1,024 accesses costs them about a twentieth.
constexpr std::uint64_t kLongestPlainRun = 1024;

}  // namespace

Pct::Pct(PctOptions options) noexcept : depth_(1), priorities_(trace::kMaxTasks) {
  set_depth(options.depth);
}

void Pct::set_depth(unsigned depth) noexcept {
  WEFT_CHECK(depth >= 1 && depth <= kMaxDepth,
             "PCT's depth is out of range: the factory checks it");
  depth_ = depth;
}

engine::Next Pct::next_execution(std::uint64_t, std::uint64_t seed) noexcept {
  begin_execution(seed);
  lowest_ = 0;
  changes_.clear();
  next_change_ = 0;
  next_plain_ = 0;
  // The label is drawn independently of the place: which of two demoted tasks
  // goes first is part of the bug.
  for (Priority label = 1; label < Priority{depth_}; ++label)
    insert_change({.operation = prng_.between(1, length_.operations()), .priority = label});
  return engine::Next::kGo;
}

void Pct::insert_change(const ChangePoint& change) noexcept {
  changes_.push_back(change);
  for (ChangePoint* at = &changes_.back();
       at != changes_.begin() && at[-1].operation > change.operation; --at) {
    at[0] = at[-1];
    at[-1] = change;
  }
}

void Pct::task_created(TaskIndex task, TaskId, engine::TaskKind) noexcept {
  created(task);
  priorities_.data()[task] = kInitial + static_cast<Priority>(prng_.next() >> 2);
}

void Pct::apply_changes(TaskIndex task) noexcept {
  for (; next_change_ < changes_.size(); ++next_change_) {
    if (changes_.data()[next_change_].operation > progress_.contested()) return;
    if (task != kNoTaskIndex) priorities_.data()[task] = changes_.data()[next_change_].priority;
  }
}

std::size_t Pct::pick(const engine::Decision& decision) noexcept {
  progress_.decided(decision);
  fairness_.went_on(decision.unasked);
  apply_changes(decision.at);
  if (decision.current != engine::Decision::kNone) {
    const engine::EnabledTask& current = decision.enabled[decision.current];
    if (patience_.gives_way(current.index, current.operation->kind) ||
        fairness_.overrule(current.index))
      demote(current.index);
  }
  std::size_t highest = 0;
  for (std::size_t i = 1; i < decision.enabled.size(); ++i) {
    if (priorities_.data()[decision.enabled[i].index] >
        priorities_.data()[decision.enabled[highest].index])
      highest = i;
  }
  at_ = decision.enabled[highest].index;
  at_operation_ = decision.enabled[highest].operation_index;
  fairness_.picked(at_);
  return highest;
}

engine::Leeway Pct::leeway() const noexcept {
  if (patience_.counts(at_)) return {};
  if (next_change_ == changes_.size()) return {trace::kNever, fairness_.leeway()};
  // Until then every operation is contested.
  return {at_operation_ + (changes_.data()[next_change_].operation - progress_.contested()),
          fairness_.leeway()};
}

std::uint64_t Pct::executed(TaskIndex task, const trace::Operation& operation,
                            std::uint64_t operation_index, StepIndex) noexcept {
  const TaskIndex blocked = performed(task, operation);
  if (blocked != kNoTaskIndex) apply_changes(blocked);
  // Or a timer of high priority and a loop around a timed wait would keep each other going for
  // ever.
  if (operation.kind == trace::OpKind::kTimerFire) demote(task);
  progress_.resumed(task, operation_index);
  if (progress_.alone()) return trace::kNever;
  const std::uint64_t now = progress_.contested();
  if (now >= next_plain_) next_plain_ = now + kLongestPlainRun;
  if (next_change_ == changes_.size()) return next_plain_ - now;
  return std::min(changes_.data()[next_change_].operation, next_plain_) - now;
}

}  // namespace weft::strategies
