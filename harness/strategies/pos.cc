// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/strategies/pos.h"

#include <bit>

#include "harness/strategies/operation_traits.h"

namespace weft::strategies {
namespace {

constexpr std::uint64_t kLast = 0;
constexpr std::uint64_t kAtOnce = ~std::uint64_t{0};

bool race(std::uintptr_t address, std::uint8_t width, trace::Access access,
          std::uintptr_t other_address, std::uint8_t other_width,
          trace::Access other_access) noexcept {
  if (access == trace::Access::kNone || other_access == trace::Access::kNone) return false;
  if (access == trace::Access::kRead && other_access == trace::Access::kRead) return false;
  // Operations without a width (locks) are named by their first byte.
  return address < other_address + (other_width == 0 ? 1u : other_width) &&
         other_address < address + (width == 0 ? 1u : width);
}

}  // namespace

engine::Next Pos::next_execution(std::uint64_t, std::uint64_t seed) noexcept {
  begin_execution(seed);
  co_enabled_.clear();
  const auto drawn = static_cast<unsigned>(prng_.between(0, length_.widest_gap_log2()));
  const unsigned gap_log2 = options_.plain_gap == 0
                                ? drawn
                                : static_cast<unsigned>(std::bit_width(options_.plain_gap)) - 1;
  plain_.begin_execution(gap_log2, prng_.next());
  return engine::Next::kGo;
}

void Pos::task_created(TaskIndex task, TaskId, engine::TaskKind) noexcept {
  pending_[task].drawn = false;
  created(task);
}

void Pos::draw(Pending& pending, const engine::EnabledTask& task, bool overruled) noexcept {
  const trace::Operation& operation = *task.operation;
  pending.priority = prng_.next() | 1;
  if (commutes(operation.kind)) pending.priority = kAtOnce;
  // Unless overruled: whoever spins may be waiting for the very task that gave way.
  if (patience_.gives_way(task.index, operation.kind) && !overruled) pending.priority = kLast;
  pending.address = operation.address;
  pending.width = operation.width;
  pending.access = trace::access_of(operation.kind);
  pending.drawn = true;
}

std::size_t Pos::pick(const engine::Decision& decision) noexcept {
  progress_.decided(decision);
  const bool redraw = fairness_.overrule(decision.at);
  std::size_t highest = 0;
  std::uint64_t highest_priority = 0;
  co_enabled_.clear();
  for (std::size_t i = 0; i < decision.enabled.size(); ++i) {
    const engine::EnabledTask& task = decision.enabled[i];
    Pending& pending = pending_[task.index];
    if (redraw || !pending.drawn || pending.operation_index != task.operation_index) {
      pending.operation_index = task.operation_index;
      draw(pending, task, redraw);
    }
    co_enabled_.push_back(task.index);
    // On a tie (several tasks give way) the one that is not at this point.
    if (i == 0 || pending.priority > highest_priority ||
        (pending.priority == highest_priority && highest == decision.current)) {
      highest = i;
      highest_priority = pending.priority;
    }
  }
  fairness_.picked(decision.enabled[highest].index);
  return highest;
}

std::uint64_t Pos::executed(TaskIndex task, const trace::Operation& operation,
                            std::uint64_t operation_index, StepIndex) noexcept {
  performed(task, operation);
  // A step task's next operation may have the same index.
  pending_[task].drawn = false;
  const trace::Access access = trace::access_of(operation.kind);
  for (const TaskIndex other : co_enabled_) {
    Pending& pending = pending_[other];
    // Not drawn: its next decision does so, with a priority as fresh as this would be.
    if (other != task && race(operation.address, operation.width, access, pending.address,
                              pending.width, pending.access)) {
      pending.drawn = false;
    }
  }
  co_enabled_.clear();
  return until_plain_point(task, operation_index);
}

}  // namespace weft::strategies
