// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/strategies/portfolio.h"

namespace weft::strategies {

engine::Strategy& Portfolio::choose_member(std::uint64_t execution) noexcept {
  if (execution <= RoundRobin::kFixedSchedules) return round_robin_;
  // Half POS, a third PCT; any stride coprime to 12 meets all slots, others meet at least two
  // kinds.
  switch (execution % 12) {
    case 0:
    case 2:
    case 4:
    case 6:
    case 7:
    case 9: return pos_;
    case 1: pct_.set_depth(2); return pct_;
    case 5:
    case 8: pct_.set_depth(3); return pct_;
    case 10: pct_.set_depth(5); return pct_;
    case 3: return random_;
    case 11: return round_robin_;
  }
  WEFT_UNREACHABLE("a remainder outside its range");
}

engine::Next Portfolio::next_execution(std::uint64_t execution, std::uint64_t seed) noexcept {
  active_ = &choose_member(execution);
  progress_.begin_execution();
  return active_->next_execution(execution, seed);
}

std::size_t Portfolio::pick(const engine::Decision& decision) noexcept {
  progress_.decided(decision);
  return active_->pick(decision);
}

std::uint64_t Portfolio::accesses_until_point(TaskIndex task,
                                              std::uint64_t operation_index) noexcept {
  progress_.resumed(task, operation_index);
  return active_->accesses_until_point(task, operation_index);
}

void Portfolio::task_created(TaskIndex task, TaskId id, engine::TaskKind kind) noexcept {
  progress_.task_created(task);
  active_->task_created(task, id, kind);
}

void Portfolio::executed(TaskIndex task, const trace::Operation& operation,
                         StepIndex step) noexcept {
  progress_.executed(task, operation);
  active_->executed(task, operation, step);
}

void Portfolio::execution_ended(StepIndex steps) noexcept {
  active_->execution_ended(steps);
  share(progress_.contested());
}

void Portfolio::share(std::uint64_t operations) noexcept {
  length_.observe(operations);
  if (active_ != &round_robin_) round_robin_.learn(operations);
  if (active_ != &pos_) pos_.learn(operations);
  if (active_ != &pct_) pct_.learn(operations);
  if (active_ != &random_) random_.learn(operations);
}

std::size_t Portfolio::save(unsigned char* buffer, std::size_t capacity) const noexcept {
  return length_.save(buffer, capacity);
}

bool Portfolio::load(const unsigned char* buffer, std::size_t size) noexcept {
  return length_.load(buffer, size) && round_robin_.load(buffer, size) && pos_.load(buffer, size) &&
         pct_.load(buffer, size) && random_.load(buffer, size);
}

}  // namespace weft::strategies
