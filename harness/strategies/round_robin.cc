// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/strategies/round_robin.h"

#include "harness/strategies/operation_traits.h"

namespace weft::strategies {
namespace {

constexpr unsigned kLongestQuantumLog2 = 6;            // 64 points: longer ones are newest-first's
constexpr std::uint64_t kLongestRestlessQuantum = 16;  // a round of back-off is some ten points

}  // namespace

engine::Next RoundRobin::next_execution(std::uint64_t execution, std::uint64_t seed) noexcept {
  schedule_ = execution <= 1   ? Schedule::kLockstep
              : execution == 2 ? Schedule::kNewestFirst
              : execution == 3 ? Schedule::kStrict
                               : Schedule::kRandom;
  seed_ = schedule_ == Schedule::kRandom ? seed : 0;
  begin_execution(seed);
  turn_ = 0;
  used_ = 0;
  turns_ = 0;
  restless_ = false;
  const bool up = (prng_.next() & 1) != 0;
  const auto quantum_log2 = static_cast<unsigned>(prng_.between(0, kLongestQuantumLog2));
  const auto gap_log2 = static_cast<unsigned>(prng_.between(0, length_.widest_gap_log2()));
  ascending_ = schedule_ == Schedule::kRandom ? up : schedule_ != Schedule::kNewestFirst;
  quantum_log2_ = quantum_log2;
  plain_.begin_execution(schedule_ == Schedule::kRandom ? gap_log2 : 0, prng_.next());
  return engine::Next::kGo;
}

void RoundRobin::task_created(TaskIndex task, TaskId, engine::TaskKind) noexcept {
  is_spawner_[task] = false;
  created(task);
}

std::uint64_t RoundRobin::quantum_of(TaskIndex task) const noexcept {
  if (restless_) return 1 + mix64(seed_ + kGoldenGamma * (turns_ + 1)) % kLongestRestlessQuantum;
  switch (schedule_) {
    case Schedule::kLockstep:
    case Schedule::kStrict: return 1;
    case Schedule::kNewestFirst: return Fairness::kConsecutive;
    case Schedule::kRandom:
      return 1 + mix64(seed_ + kGoldenGamma * (task + 1u)) % (std::uint64_t{1} << quantum_log2_);
  }
  WEFT_UNREACHABLE("a schedule outside its enumeration");
}

bool RoundRobin::goes_on(const engine::EnabledTask& task) const noexcept {
  const trace::OpKind kind = task.operation->kind;
  const bool random = schedule_ == Schedule::kRandom;
  if (random ? patience_.gives_way(task.index, kind) : gives_way(kind)) return false;
  if (is_spawner_[task.index] && used_ < Fairness::kConsecutive) return true;
  return task.index == turn_ && used_ < quantum_of(task.index);
}

std::size_t RoundRobin::next_after(const engine::Decision& decision, bool timers) const noexcept {
  // Cyclically onwards from turn_: the smallest distance in the direction of travel.
  constexpr unsigned kRing = trace::kMaxTasks;
  std::size_t next = engine::Decision::kNone;
  unsigned nearest = kRing + 1;
  for (std::size_t i = 0; i < decision.enabled.size(); ++i) {
    const engine::EnabledTask& task = decision.enabled[i];
    if (task.kind == engine::TaskKind::kStep && !timers) continue;
    const unsigned ahead =
        ascending_ ? (task.index + kRing - turn_) % kRing : (turn_ + kRing - task.index) % kRing;
    const unsigned distance = ahead == 0 ? kRing : ahead;
    if (distance >= nearest) continue;
    nearest = distance;
    next = i;
  }
  return next;
}

std::size_t RoundRobin::pick(const engine::Decision& decision) noexcept {
  progress_.decided(decision);
  const bool overruled = fairness_.overrule(decision.at);
  restless_ = restless_ || overruled;
  std::size_t chosen = engine::Decision::kNone;
  if (decision.current == engine::Decision::kNone) {
    if (decision.at != kNoTaskIndex) is_spawner_[decision.at] = false;
  } else if (!overruled && goes_on(decision.enabled[decision.current])) {
    chosen = decision.current;
  }
  if (chosen == engine::Decision::kNone)
    chosen = next_after(decision, schedule_ == Schedule::kRandom || overruled);
  // Two entries at least, and one timer per execution: a thread was among them.
  WEFT_CHECK(chosen != engine::Decision::kNone,
             "no thread among the enabled tasks: there is more than one timer");
  fairness_.picked(decision.enabled[chosen].index);
  return chosen;
}

std::uint64_t RoundRobin::choose(const engine::Choice& choice) noexcept {
  const std::uint64_t number = prng_.next();
  // A constant would keep rejection sampling in the subject busy for ever.
  if (choice.count == 0) return number;
  if (trace::is_unlikely(choice.kind)) return number % kUnlikely == 0 ? 1 : 0;
  switch (schedule_) {
    case Schedule::kLockstep:
    case Schedule::kStrict: return 0;
    case Schedule::kNewestFirst: return choice.count - 1;
    case Schedule::kRandom: return prng_.below(choice.count);
  }
  WEFT_UNREACHABLE("a schedule outside its enumeration");
}

std::uint64_t RoundRobin::executed(TaskIndex task, const trace::Operation& operation,
                                   std::uint64_t operation_index, StepIndex) noexcept {
  performed(task, operation);
  turns_ += task == turn_ ? 0 : 1;
  used_ = task == turn_ ? used_ + 1 : 1;
  turn_ = task;
  if (schedule_ == Schedule::kLockstep && operation.kind == trace::OpKind::kSpawn)
    is_spawner_[task] = true;
  return until_plain_point(task, operation_index);
}

}  // namespace weft::strategies
