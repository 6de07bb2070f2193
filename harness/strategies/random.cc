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

// Coins tossed ahead, where their probability is given.
constexpr std::uint64_t kMostTossed = 4096;

// Down to about one switch in an execution, in programs shorter than that.
unsigned sparsest_switch_log2(std::uint64_t operations) noexcept {
  const auto log2 = static_cast<unsigned>(std::bit_width(operations)) - 1;
  return log2 < 1 ? 1 : log2 < kSparsestSwitchLog2 ? log2 : kSparsestSwitchLog2;
}

}  // namespace

engine::Next Random::next_execution(std::uint64_t, std::uint64_t seed) noexcept {
  begin_execution(seed);
  forget_coins();
  at_ = kNoTaskIndex;
  switch_log2_ =
      static_cast<unsigned>(prng_.between(1, sparsest_switch_log2(length_.operations())));
  switch_probability_ = 1.0 / static_cast<double>(1u << switch_log2_);
  if (options_.switch_probability > 0) {
    switch_log2_ = 0;
    switch_probability_ = options_.switch_probability;
  }
  const auto gap_log2 = static_cast<unsigned>(prng_.between(0, length_.widest_gap_log2()));
  plain_.begin_execution(gap_log2, prng_.next());
  return engine::Next::kGo;
}

/// The coins of the next decisions, up to the first that says to leave.
void Random::toss() noexcept {
  if (switch_log2_ != 0) [[likely]] {
    // One of 2^n is the probability that n bits are set at once: a word has 64 / n such coins.
    const unsigned coins = 64 / switch_log2_;
    const std::uint64_t word = prng_.next();
    std::uint64_t leave = word;
    for (unsigned i = 1; i < switch_log2_; ++i) leave &= word >> (i * coins);
    stays_ = std::min<std::uint64_t>(static_cast<unsigned>(std::countr_zero(leave)), coins);
    leaves_ = stays_ < coins;
    return;
  }
  const double leave = std::min(switch_probability_, kMost);
  for (stays_ = 0; stays_ < kMostTossed; ++stays_) {
    leaves_ = prng_.chance(leave);
    if (leaves_) return;
  }
}

/// Whether the coins say that the task at its point goes on.
inline bool Random::stays(const engine::EnabledTask& current, std::uint64_t unasked) noexcept {
  if (current.index != at_) forget_coins();  // it was not picked, but nobody else was left
  // Whatever the coins said: the task waits, or has had its share.
  const bool forced = fairness_.overrule(current.index);
  if (patience_.gives_way(current.index, current.operation->kind)) {
    forget_coins();
    return !forced &&
           !prng_.chance(std::clamp(std::max(switch_probability_, kLeastOnYield), 0.0, kMost));
  }
  stays_ -= std::min(stays_, unasked);
  if (stays_ == 0 && !leaves_) toss();
  if (forced || stays_ == 0) {
    forget_coins();
    return false;
  }
  --stays_;  // this decision's
  return true;
}

std::size_t Random::pick(const engine::Decision& decision) noexcept {
  progress_.decided(decision);
  fairness_.went_on(decision.unasked);
  const std::size_t current = decision.current;
  std::size_t chosen = current;
  if (current == engine::Decision::kNone) {
    chosen = prng_.below(decision.enabled.size());
  } else if (!stays(decision.enabled[current], decision.unasked)) {
    const std::size_t other = prng_.below(decision.enabled.size() - 1);
    chosen = other < current ? other : other + 1;
  }
  const TaskIndex next = decision.enabled[chosen].index;
  if (next != at_) {
    at_ = next;
    toss();
  }
  fairness_.picked(next);
  return chosen;
}

}  // namespace weft::strategies
