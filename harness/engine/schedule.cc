// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Decisions: who goes next, and the log of departures from the default schedule. Who can go is in
// enabled.cc, other choices are in choices.cc.
#include <utility>

#include "harness/base/check.h"
#include "harness/engine/execution.h"

namespace weft::engine {
namespace {

using trace::ChoiceKind;
using trace::OpKind;

/// Steps that detached tasks get to end by themselves once nobody else is left.
constexpr StepIndex kDetachedGrace = 10'000;

}  // namespace

void Execution::wait_outside(Task& task, const trace::Operation& operation,
                             const Readiness& readiness) noexcept {
  task.readiness = &readiness;
  ++outside_waits_;
  point(task, operation);
  --outside_waits_;
  task.readiness = nullptr;
}

void Execution::announced(Task& task) noexcept {
  const trace::Operation& operation = task.pending;
  for (std::uint16_t& made : task.choices) made = 0;
  task.woken = false;
  task.timed_out = false;
  task.waited = false;
  for (std::size_t i = 0; i < observer_count_; ++i) observers_[i]->announced(task);
  if (trace::wait_kind(operation.kind) == trace::WaitKind::kNone && !task.counted_as_timed) {
    enabled_.assign(task.index, true);
  } else {
    set_enabled(task);
  }
  if (!enabled_.contains(task.index)) {
    task.wait_order = ++next_wait_order_;
    if (trace::wait_kind(operation.kind) == trace::WaitKind::kWrite) refresh(operation.address);
    report_cycle_through(task);
  }
  const OpKind kind = operation.kind;
  if (goes_on_unasked(task)) {
    go_on(task);
  } else {
    leeway_.points = 0;
    // Nobody is asked about what commutes, and what comes of it changes nothing for the others.
    if (trace::commutes(kind) && enabled_.contains(task.index) && outside_waits_ == 0 &&
        live_attached_ != 0) {
      account(task, task);
    } else {
      reschedule(task);
    }
    ask_for_plain_points(task);
  }
  if (steps_ >= stop_before_) [[unlikely]]
    stop_before_step(task);
  // Whether a plain access is a point at all is the strategy's choice, which a replay does not
  // make.
  if (trace::is_plain(kind)) return;
  if (!Progress::may_only_look(kind)) return progress_.changed();
  progress_.looked(task.idleness);
  if (task.idleness.points % kLivelockPoints == 0) report_livelock(task);
}

/// Steps alone count: a replay does not consider the plain accesses that were passed by.
inline void Execution::count_step(const Task& chosen) noexcept {
  if (steps_ >= config_.step_cap) [[unlikely]] {
    fail(trace::FindingKind::kStepCap,
         "the execution did not end within its step limit: a livelock, or raise --max-steps");
  }
  const std::uint64_t what = (std::uint64_t{chosen.index} << 48) ^
                             (static_cast<std::uint64_t>(chosen.pending.kind) << 40) ^
                             chosen.operation_index;
  digest_ = fold(digest_ + enabled_.hash(), what);
  channel_.steps = ++steps_;
}

/// Whether the strategy has said already that `task` performs what it announced. The default must
/// say the same, or there were a departure to log.
bool Execution::goes_on_unasked(const Task& task) const noexcept {
  if (leeway_.points == 0 || task.operation_index >= leeway_.before_operation ||
      enabled_.version() != leeway_version_ || last_ != task.index)
    return false;
  const OpKind kind = task.pending.kind;
  const bool ordinary = !trace::is_plain(kind) && !trace::commutes(kind) &&
                        kind != OpKind::kYield && kind != OpKind::kSleep;
  return ordinary && run_length_ < trace::kDefaultFairness && !progress_.repeats(task.idleness) &&
         task.accesses_until_point > 1 && outside_waits_ == 0 && live_attached_ != 0 &&
         observer_count_ == 0 && !bypass_bounds_.any();
}

void Execution::go_on(Task& task) noexcept {
  --leeway_.points;
  ++unasked_;
  --task.accesses_until_point;  // an operation like them
  beat();
  count_step(task);
  ++run_length_;
}

void Execution::ask_for_plain_points(Task& task) noexcept {
  const std::uint64_t asked_for =
      config_.memory_points ? strategy_->accesses_until_point(task.index, task.operation_index)
                            : trace::kNever;
  const std::uint64_t in_a_row = task.operation_index - task.last_operation;
  const std::uint64_t patience =
      trace::kDefaultPlainPatience - in_a_row % trace::kDefaultPlainPatience;
  task.accesses_until_point = asked_for < patience ? asked_for : patience;
}

void Execution::reschedule(Task& at) noexcept {
  Task* next = decide(at);
  if (next == &at) return;
  if (next == nullptr) {
    executor_.abandon(at);
  } else {
    executor_.switch_to(at, *next);
  }
}

Task* Execution::decide(Task& at) noexcept {
  for (;;) {
    if (outside_waits_ != 0) ask_outside();
    if (live_attached_ == 0) {
      const bool anyone_left = [&] {
        for (std::size_t i = 0; i < task_count_; ++i) {
          if (tasks_[i].kind == TaskKind::kThread && tasks_[i].state != TaskState::kEnded)
            return true;
        }
        return false;
      }();
      if (!anyone_left) return nullptr;
      // The process would be gone by now; detached tasks that do not end are dropped.
      if (enabled_.count() == 0 || steps_ > attached_ended_at_ + kDetachedGrace) return nullptr;
    }
    if (enabled_.count() == 0 && !leave_to_the_outside()) report_stuck(at);
    const bool at_enabled = enabled_.contains(at.index);
    if (at_enabled && trace::commutes(at.pending.kind)) {
      account(at, at);
      return &at;
    }
    const TaskIndex by_default = fallback(at, at_enabled);
    Task& chosen = enabled_.count() == 1 ? tasks_[by_default] : pick(at, by_default, at_enabled);
    account(at, chosen);
    if (chosen.kind == TaskKind::kThread) return &chosen;
    if (steps_ >= stop_before_) [[unlikely]]
      stop_before_step(chosen);
    fire_timer();
  }
}

TaskIndex Execution::fallback(const Task& at, bool at_enabled) const noexcept {
  // A plain access is a point only where a strategy asked for one, so the default must not depend
  // on it.
  const std::uint64_t in_a_row = at.operation_index - at.last_operation;
  if (trace::is_plain(at.pending.kind) && in_a_row % trace::kDefaultPlainPatience == 0)
    at_enabled = false;
  const bool passes = at.pending.kind == OpKind::kYield || progress_.repeats(at.idleness) ||
                      (run_length_ >= trace::kDefaultFairness && !trace::is_plain(at.pending.kind));
  if (at_enabled && !passes) return at.index;
  // Cyclically onwards from `at`; the timer only when no thread can run.
  TaskIndex next = at.index;
  for (std::size_t i = 0; i < enabled_.count(); ++i) {
    next = enabled_.next(std::size_t{next} + 1);
    if (next == kNoTaskIndex) next = enabled_.next(0);
    if (tasks_[next].kind == TaskKind::kThread) return next;
  }
  return next;
}

Task& Execution::pick(Task& at, TaskIndex by_default, bool at_enabled) noexcept {
  std::size_t count = 0;
  Decision decision;
  decision.step = steps_;
  decision.at = at.index;
  decision.at_operation = at.operation_index;
  decision.digest = digest_;
  decision.unasked = std::exchange(unasked_, 0);
  decision.nth = at.choices[static_cast<std::size_t>(ChoiceKind::kSchedule)];
  enabled_.for_each([&](TaskIndex index) {
    const Task& task = tasks_.data()[index];
    if (at_enabled && index == at.index) decision.current = count;
    if (index == by_default) decision.fallback = count;
    view_.data()[count++] = {index, task.kind, task.id, task.operation_index, &task.pending};
  });
  decision.enabled = {view_.data(), count};
  const std::size_t position = strategy_->pick(decision);
  heed_complaint();
  WEFT_CHECK(position < count, "a strategy picked a task that is not enabled");
  Task& chosen = tasks_.data()[view_.data()[position].index];
  if (chosen.index != by_default)
    log_deviation(at, ChoiceKind::kSchedule, chosen.id.value, chosen.index);
  ++at.choices[static_cast<std::size_t>(ChoiceKind::kSchedule)];
  if (chosen.index == at.index) {
    leeway_ = strategy_->leeway();
    leeway_version_ = enabled_.version();
  }
  return chosen;
}

void Execution::account(const Task& at, Task& chosen) noexcept {
  const trace::Operation& operation = chosen.pending;
  if (!trace::is_plain(operation.kind)) {
    beat();
  } else if (&chosen == &at) {
    // Considered and passed by: a replay, which considers only what was chosen, must see the same
    // history. A loop of plain accesses comes by now and then as well, and must not pass for
    // progress.
    strategy_->executed(chosen.index, operation, steps_);
    return;
  }
  count_step(chosen);
  bool preempted = false;
  if (last_ == chosen.index) {
    ++run_length_;
  } else {
    preempted = &chosen != &at && enabled_.contains(at.index) && at.pending.kind != OpKind::kYield;
    run_length_ = 1;
    last_ = chosen.index;
    ++channel_.switches;
    if (preempted) ++channel_.preemptions;
  }
  if (bypass_bounds_.any()) [[unlikely]]
    forgive_unfairness(chosen);
  if (observer_count_ != 0) {
    const StepView view{steps_, &chosen, preempted, enabled_.count(), enabled_.low_word(), digest_};
    for (std::size_t i = 0; i < observer_count_; ++i) observers_[i]->step(view);
  }
  strategy_->executed(chosen.index, operation, steps_);
}

bool Execution::passes_over(Task& task, std::uint64_t identity) noexcept {
  bool known = false;
  for (std::uint32_t i = 0; i < channel_.known_race_count; ++i) {
    if (channel_.known_races[i].identity != identity) continue;
    ++channel_.known_races[i].executions;
    known = true;
  }
  // One operation passes over one race. The counters are those of the latest point, which a plain
  // access need not be, and which it is in a replay.
  task.choices[static_cast<std::size_t>(ChoiceKind::kPassOver)] = 0;
  if (!known) {
    known = strategy_->passes_over(choice_of(task, ChoiceKind::kPassOver, 0, 2));
    heed_complaint();
  }
  if (known) log_deviation(task, ChoiceKind::kPassOver, 1, kNoTaskIndex);
  return known;
}

void Execution::woke(const Task& task, std::uintptr_t address, std::uint64_t count) noexcept {
  if (count != 0) {
    progress_.changed();
    missed_wakes_.erase(address);
  } else {
    // Others may have changed the word since; what the waker wrote is what it has to tell.
    missed_wakes_.insert(
        address, {{steps_, task.index, kNoTaskIndex}, task.wrote, task.wrote_at == address});
  }
}

void Execution::log_deviation(Task& at, ChoiceKind kind, std::uint64_t value,
                              TaskIndex value_index) noexcept {
  const bool logged = channel_.choices.add({
      .task = at.id,
      .operation = at.operation_index,
      .value = value,
      .nth = at.choices[static_cast<std::size_t>(kind)],
      .kind = kind,
      .digest = static_cast<std::uint16_t>(digest_),
      .task_index = at.index,
      .value_index = value_index,
  });
  if (logged) [[likely]]
    return;
  if (channel_.choices.count() == trace::kMaxDeviations) {
    fail(trace::FindingKind::kStepCap,
         "the choice log is full: shorten the test or use a sparser strategy");
  }
  fail(trace::FindingKind::kUserError,
       "the choice log does not fit on the disk: make room where temporary files go, raise the "
       "limit on file sizes, or name another place with TMPDIR");
}

void Execution::heed_complaint() noexcept {
  if (!strategy_->complains()) [[likely]]
    return;
  const Complaint& complaint = *strategy_->complaint();
  fail(complaint.kind, complaint.message);
}

void Execution::check_invariants() noexcept {
  for (std::size_t i = 0; i < invariant_count_; ++i) {
    const Invariant& invariant = invariants_[i];
    checking_ = invariant.what;
    const bool holds = [&] {
      const InterceptionOff off;
      return invariant.holds(invariant.context);
    }();
    checking_ = nullptr;
    if (!holds) fail(trace::FindingKind::kInvariant, invariant.what);
  }
}

}  // namespace weft::engine
