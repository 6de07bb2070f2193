// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Decisions: who goes next, and the log of departures from the default schedule. Who can go is in
// enabled.cc, other choices are in choices.cc.
#include <algorithm>
#include <array>
#include <utility>

#include "harness/base/check.h"
#include "harness/engine/execution.h"

namespace weft::engine {
namespace {

using trace::ChoiceKind;
using trace::OpKind;

/// Steps that detached tasks get to end by themselves once nobody else is left.
constexpr StepIndex kDetachedGrace = 10'000;

/// Whether a task that is about to do so can be going on by its leeway.
constexpr bool is_ordinary(OpKind kind) {
  return !trace::is_plain(kind) && !trace::commutes(kind) && kind != OpKind::kYield &&
         kind != OpKind::kSleep;
}

/// Those of them that do not depend on what others do: a table, because each point asks.
constexpr auto kNeverWaits = [] {
  std::array<bool, static_cast<std::size_t>(OpKind::kCount)> never_waits{};
  for (std::size_t i = 0; i < never_waits.size(); ++i) {
    const auto kind = static_cast<OpKind>(i);
    never_waits[i] = is_ordinary(kind) && trace::wait_kind(kind) == trace::WaitKind::kNone;
  }
  return never_waits;
}();

}  // namespace

void Execution::wait_outside(Task& task, const trace::Operation& operation,
                             const Readiness& readiness) noexcept {
  task.readiness = &readiness;
  ++outside_waits_;
  foreseen_before_ = 0;
  point(task, operation);
  --outside_waits_;
  task.readiness = nullptr;
}

/// Steps alone count: a replay does not consider the plain accesses that were passed by.
inline void Execution::count_step(const Task& chosen) noexcept {
  if (steps_ >= config_.step_cap) [[unlikely]]
    fail_for_length();
  note_step(chosen);
}

void Execution::fail_for_length() noexcept {
  fail(trace::FindingKind::kStepCap,
       "the execution did not end within its step limit: a livelock, or raise --max-steps");
}

inline void Execution::note_step(const Task& chosen) noexcept {
  const std::uint64_t what = (std::uint64_t{chosen.index} << 40) ^
                             (static_cast<std::uint64_t>(chosen.pending.kind) << 32) ^
                             chosen.operation_index;
  digest_ = fold_step(digest_ + enabled_.hash(), what);
  channel_.steps = ++steps_;
}

inline void Execution::tell_strategy(Task& performed) noexcept {
  const std::uint64_t asked_for =
      strategy_->executed(performed.index, performed.pending, performed.operation_index, steps_);
  const std::uint64_t in_a_row = performed.operation_index - performed.last_operation;
  const std::uint64_t patience =
      trace::kDefaultPlainPatience - in_a_row % trace::kDefaultPlainPatience;
  performed.accesses_until_point =
      config_.memory_points && asked_for < patience ? asked_for : patience;
}

inline void Execution::account(const Task& at, Task& chosen) noexcept {
  if (unasked_ != 0) [[unlikely]]
    tell_unasked();
  if (trace::is_plain(chosen.pending.kind) && &chosen == &at) {
    // Considered and passed by: a replay, which considers only what was chosen, must see the same
    // history. A loop of plain accesses comes by now and then as well, and must not pass for
    // progress.
    return tell_strategy(chosen);
  }
  if (!trace::is_plain(chosen.pending.kind)) beat();
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
  if (observer_count_ != 0) [[unlikely]]
    tell_observers(chosen, preempted);
  tell_strategy(chosen);
}

void Execution::tell_unasked() noexcept {
  strategy_->went_on(last_, unasked_until_, std::exchange(unasked_, 0));
}

void Execution::tell_observers(const Task& performed, bool preempted) noexcept {
  const StepView view{steps_,           &performed,          preempted,
                      enabled_.count(), enabled_.low_word(), digest_};
  for (std::size_t i = 0; i < observer_count_; ++i) observers_[i]->step(view);
}

/// Whether the strategy has said already that `task` performs what it announced. The default must
/// say the same, or there were a departure to log.
inline bool Execution::goes_on_unasked(const Task& task) const noexcept {
  if (leeway_.points == 0 || task.operation_index >= leeway_.before_operation ||
      enabled_.hash() != leeway_among_ || last_ != task.index)
    return false;
  return is_ordinary(task.pending.kind) && run_length_ < trace::kDefaultFairness &&
         !progress_.repeats(task.idleness) && task.accesses_until_point > 1 &&
         outside_waits_ == 0 && live_attached_ != 0 && observer_count_ == 0 &&
         !bypass_bounds_.any();
}

inline void Execution::go_on(Task& task) noexcept {
  --leeway_.points;
  ++unasked_;
  unasked_until_ = task.operation_index;
  --task.accesses_until_point;  // an operation like them
  beat();
  note_step(task);
  ++run_length_;
}

/// What goes_on_unasked() found of `task`, which it holds for, is found of its points to come as
/// well, if they are no more than these: an operation index that is above those of all of them.
/// Points alone count for most of it; that plain accesses count here too makes it fewer.
std::uint64_t Execution::foresee(const Task& task) const noexcept {
  if (stop_before_ != kNoStep) return 0;
  const std::uint64_t points = std::min({leeway_.points, trace::kDefaultFairness - run_length_,
                                         task.accesses_until_point - 1, config_.step_cap - steps_});
  return std::min(leeway_.before_operation, task.operation_index + points + 1);
}

/// Whether it is foreseen that `task` performs what it announced, if that is ordinary and can be
/// done, and nothing has changed since.
inline bool Execution::is_foreseen(const Task& task) const noexcept {
  return task.operation_index < foreseen_before_ && enabled_.hash() == leeway_among_ &&
         !progress_.repeats(task.idleness);
}

inline bool Execution::note_progress(Task& task) noexcept {
  if (!Progress::may_only_look(task.pending.kind)) {
    progress_.changed();
    return false;
  }
  progress_.looked(task.idleness);
  return true;
}

/// The root's, for which nobody else is there to be left.
void Execution::first_step(Task& root) noexcept { account(tasks_.data()[kTimerIndex], root); }

void Execution::announced(Task& task) noexcept {
  for (std::uint16_t& made : task.choices) made = 0;
  // In functions of their own, so that what is most frequent needs no registers saved.
  if (!is_foreseen(task)) return schedule(task);
  if (!kNeverWaits[static_cast<std::size_t>(task.pending.kind)]) return go_on_if_possible(task);
  go_on(task);
  (void)note_progress(task);
}

/// Where it is foreseen, but for the operation itself.
void Execution::go_on_if_possible(Task& task) noexcept {
  if (!is_ordinary(task.pending.kind) || !would_succeed(task)) return schedule(task);
  go_on(task);
  (void)note_progress(task);
}

void Execution::schedule(Task& task) noexcept {
  foreseen_before_ = 0;
  const OpKind kind = task.pending.kind;
  task.woken = false;
  task.timed_out = false;
  task.waited = false;
  for (std::size_t i = 0; i < observer_count_; ++i) observers_[i]->announced(task);
  const trace::WaitKind waits_for = trace::wait_kind(kind);
  if (waits_for == trace::WaitKind::kNone && !task.counted_as_timed) [[likely]] {
    enabled_.assign(task.index, true);
  } else {
    set_enabled(task);
    if (!enabled_.contains(task.index)) {
      task.wait_order = ++next_wait_order_;
      if (waits_for == trace::WaitKind::kWrite) refresh(task.pending.address);
      report_cycle_through(task);
    }
  }
  // What commutes or is alone is not asked about, and so has no leeway.
  if (goes_on_at_once(task) && outside_waits_ == 0 && live_attached_ != 0) {
    account(task, task);
  } else if (goes_on_unasked(task)) {
    if (steps_ >= config_.step_cap) [[unlikely]]
      fail_for_length();
    go_on(task);
    foreseen_before_ = foresee(task);
  } else {
    reschedule(task);
  }
  if (steps_ >= stop_before_) [[unlikely]]
    stop_before_step(task);
  // Whether a plain access is a point at all is the strategy's choice, which a replay does not
  // make.
  if (trace::is_plain(kind)) return;
  const bool looked = note_progress(task);
  if (looked && task.idleness.points % kLivelockPoints == 0) report_livelock(task);
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
  foreseen_before_ = 0;
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
    if (goes_on_at_once(at)) {
      account(at, at);
      return &at;
    }
    // Leeway is given by a decision among several to the one that goes on.
    leeway_.points = 0;
    Task& chosen = enabled_.count() == 1 ? tasks_.data()[enabled_.next(0)] : pick(at);
    account(at, chosen);
    if (chosen.kind == TaskKind::kThread) return &chosen;
    if (steps_ >= stop_before_) [[unlikely]]
      stop_before_step(chosen);
    fire_timer();
  }
}

/// Whether the default schedule leaves a task that could go on.
inline bool Execution::leaves_by_default(const Task& at) const noexcept {
  // A plain access is a point only where a strategy asked for one, so the default must not depend
  // on it.
  if (trace::is_plain(at.pending.kind)) {
    if ((at.operation_index - at.last_operation) % trace::kDefaultPlainPatience == 0) return true;
  } else if (run_length_ >= trace::kDefaultFairness) {
    return true;
  }
  return at.pending.kind == OpKind::kYield || progress_.repeats(at.idleness);
}

/// Cyclically onwards from `at`; the timer only when no thread can run.
TaskIndex Execution::next_enabled(const Task& at) const noexcept {
  TaskIndex next = at.index;
  for (std::size_t i = 0; i < enabled_.count(); ++i) {
    next = enabled_.next(std::size_t{next} + 1);
    if (next == kNoTaskIndex) next = enabled_.next(0);
    if (tasks_.data()[next].kind == TaskKind::kThread) return next;
  }
  return next;
}

Task& Execution::pick(Task& at) noexcept {
  const bool at_enabled = enabled_.contains(at.index);
  const TaskIndex by_default = at_enabled && !leaves_by_default(at) ? at.index : next_enabled(at);
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
  leeway_ = strategy_->leeway();
  leeway_among_ = enabled_.hash();
  return chosen;
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
