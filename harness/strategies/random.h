// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Uniform choice with sparse preemption: the running task goes on unless a coin
// says otherwise; every other choice is uniform.
//
// Source: the random walk over schedules is the base line of Thomson, Donaldson,
// Betts, 'Concurrency testing using controlled schedulers' (TOPC 2016), section 3.
// Deviations from it:
//  1. It switches at each point with a small probability instead of choosing
//     among all enabled tasks every time: a switch at every point rarely lets a
//     task get far ahead of another, and long delays are what most bugs need.
//  2. Unless `switch` is given, the probability is drawn per execution from
//     1/2, 1/4, ... 1/64 (not below one switch in an execution), and so is the density of
//     considered plain accesses, so that a campaign covers dense and sparse whatever the program's
//     length.
//  3. It is fair, whatever `switch` is, so that a loop that waits for another task ends. A task
//     about to yield (but see Patience) or sleep is left with probability 1/2 at least, one that
//     Fairness overrules for certain; any other with 63/64 at most, for two tasks that back off
//     from each other in strict alternation would do so for ever.
#pragma once

#include <algorithm>

#include "harness/strategies/sampler.h"

namespace weft::strategies {

struct RandomOptions {
  double switch_probability = 0;  // 0: drawn per execution
};

class Random final : public Sampler {
 public:
  explicit Random(RandomOptions options = {}) noexcept : options_(options) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "random"; }
  engine::Next next_execution(std::uint64_t execution, std::uint64_t seed) noexcept override;
  std::size_t pick(const engine::Decision& decision) noexcept override;
  [[nodiscard]] engine::Leeway leeway() const noexcept override {
    return {trace::kNever, patience_.counts(at_) ? 0 : std::min(stays_, fairness_.leeway())};
  }
  void went_on(TaskIndex task, std::uint64_t operation_index,
               std::uint64_t points) noexcept override {
    Sampler::went_on(task, operation_index, points);
    stays_ -= points;
  }

 private:
  void toss() noexcept;
  void forget_coins() noexcept {
    stays_ = 0;
    leaves_ = false;
  }
  [[nodiscard, gnu::always_inline]] bool stays(const engine::EnabledTask& current,
                                               std::uint64_t unasked) noexcept;

  const RandomOptions options_;
  // Of the execution in progress.
  double switch_probability_ = 0;
  unsigned switch_log2_ = 0;     // where that is 2^-switch_log2_; 0: where it is given
  TaskIndex at_ = kNoTaskIndex;  // whom the latest decision picked
  // The coins of its next decisions are tossed already: so many say that it goes on, and the one
  // after them, if there is one, that it does not.
  std::uint64_t stays_ = 0;
  bool leaves_ = false;
};

}  // namespace weft::strategies
