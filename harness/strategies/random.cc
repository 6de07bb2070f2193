// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/strategies/random.h"

#include <bit>

#include "harness/strategies/operation_traits.h"

namespace weft::strategies {
namespace {

// 1/64: a few switches in a test of some hundred points.
constexpr unsigned kSparsestSwitchLog2 = 6;

// Down to about one switch in an execution, in programs shorter than that.
unsigned sparsest_switch_log2(std::uint64_t operations) noexcept {
  const auto log2 = static_cast<unsigned>(std::bit_width(operations)) - 1;
  return log2 < 1 ? 1 : log2 < kSparsestSwitchLog2 ? log2 : kSparsestSwitchLog2;
}

}  // namespace

engine::Next Random::next_execution(std::uint64_t, std::uint64_t seed) noexcept {
  prng_ = Prng(seed);
  const double drawn =
      1.0 / static_cast<double>(1u << prng_.between(1, sparsest_switch_log2(length_.operations())));
  switch_probability_ = options_.switch_probability > 0 ? options_.switch_probability : drawn;
  progress_.begin_execution();
  const auto gap_log2 = static_cast<unsigned>(prng_.between(0, length_.widest_gap_log2()));
  plain_.begin_execution(gap_log2, prng_.next());
  return engine::Next::kGo;
}

std::size_t Random::pick(const engine::Decision& decision) noexcept {
  progress_.decided(decision);
  const std::size_t candidates = decision.enabled.size();
  if (decision.current == engine::Decision::kNone) return prng_.below(candidates);
  const trace::OpKind kind = decision.enabled[decision.current].operation->kind;
  if (commutes(kind)) return decision.current;
  double leave = switch_probability_;
  if (leave < 0.5 && gives_way(kind)) leave = 0.5;
  if (!prng_.chance(leave)) return decision.current;
  const std::size_t other = prng_.below(candidates - 1);
  return other < decision.current ? other : other + 1;
}

std::uint64_t Random::choose(const engine::Choice& choice) noexcept { return draw_number(prng_, choice); }

std::uint64_t Random::accesses_until_point(TaskIndex task, std::uint64_t operation_index) noexcept {
  progress_.resumed(task, operation_index);
  return progress_.alone() ? trace::kNever : plain_.until_next(progress_.contested());
}

void Random::task_created(TaskIndex task, TaskId, engine::TaskKind) noexcept {
  progress_.task_created(task);
}

void Random::executed(TaskIndex task, const trace::Operation& operation, StepIndex) noexcept {
  progress_.executed(task, operation);
}

void Random::execution_ended(StepIndex) noexcept { length_.observe(progress_.contested()); }

std::size_t Random::save(unsigned char* buffer, std::size_t capacity) const noexcept {
  return length_.save(buffer, capacity);
}

bool Random::load(const unsigned char* buffer, std::size_t size) noexcept {
  return length_.load(buffer, size);
}

}  // namespace weft::strategies
