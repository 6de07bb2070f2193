// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/strategies/random.h"

#include <algorithm>
#include <bit>

#include "harness/strategies/operation_traits.h"

namespace weft::strategies {
namespace {

// 1/64: a few switches in a test of some hundred points.
constexpr unsigned kSparsestSwitchLog2 = 6;

// A short test still runs in strict alternation more often than not; a loop of ten points loses
// step within some six rounds.
constexpr double kMost = 63.0 / 64;

constexpr double kLeastOnYield = 1.0 / 2;

// Down to about one switch in an execution, in programs shorter than that.
unsigned sparsest_switch_log2(std::uint64_t operations) noexcept {
  const auto log2 = static_cast<unsigned>(std::bit_width(operations)) - 1;
  return log2 < 1 ? 1 : log2 < kSparsestSwitchLog2 ? log2 : kSparsestSwitchLog2;
}

}  // namespace

engine::Next Random::next_execution(std::uint64_t, std::uint64_t seed) noexcept {
  begin_execution(seed);
  const double drawn =
      1.0 / static_cast<double>(1u << prng_.between(1, sparsest_switch_log2(length_.operations())));
  switch_probability_ = options_.switch_probability > 0 ? options_.switch_probability : drawn;
  const auto gap_log2 = static_cast<unsigned>(prng_.between(0, length_.widest_gap_log2()));
  plain_.begin_execution(gap_log2, prng_.next());
  return engine::Next::kGo;
}

std::size_t Random::draw(const engine::Decision& decision) noexcept {
  const std::size_t candidates = decision.enabled.size();
  if (decision.current == engine::Decision::kNone) return prng_.below(candidates);
  const engine::EnabledTask& current = decision.enabled[decision.current];
  const trace::OpKind kind = current.operation->kind;
  if (commutes(kind)) return decision.current;
  const double leave = std::clamp(
      switch_probability_, patience_.gives_way(current.index, kind) ? kLeastOnYield : 0.0, kMost);
  if (!fairness_.overrule(current.index) && !prng_.chance(leave)) return decision.current;
  const std::size_t other = prng_.below(candidates - 1);
  return other < decision.current ? other : other + 1;
}

std::size_t Random::pick(const engine::Decision& decision) noexcept {
  progress_.decided(decision);
  const std::size_t chosen = draw(decision);
  fairness_.picked(decision.enabled[chosen].index);
  return chosen;
}

}  // namespace weft::strategies
