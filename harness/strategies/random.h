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
//  3. A task about to yield or sleep is left with probability 1/2 at least, one whose
//     operation commutes with all others never.
#pragma once

#include "harness/base/prng.h"
#include "harness/engine/strategy.h"
#include "harness/strategies/length_estimate.h"
#include "harness/strategies/plain_points.h"
#include "harness/strategies/progress.h"

namespace weft::strategies {

struct RandomOptions {
  double switch_probability = 0;  // 0: drawn per execution
};

class Random final : public engine::Strategy {
 public:
  explicit Random(RandomOptions options = {}) noexcept : options_(options) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "random"; }
  engine::Next next_execution(std::uint64_t execution, std::uint64_t seed) noexcept override;
  std::size_t pick(const engine::Decision& decision) noexcept override;
  std::uint64_t choose(const engine::Choice& choice) noexcept override;
  std::uint64_t accesses_until_point(TaskIndex task,
                                     std::uint64_t operation_index) noexcept override;
  void task_created(TaskIndex task, TaskId id, engine::TaskKind kind) noexcept override;
  void executed(TaskIndex task, const trace::Operation& operation,
                StepIndex step) noexcept override;
  void execution_ended(StepIndex steps) noexcept override;
  std::size_t save(unsigned char* buffer, std::size_t capacity) const noexcept override;
  bool load(const unsigned char* buffer, std::size_t size) noexcept override;

  /// Another strategy's execution had so many operations.
  void learn(std::uint64_t operations) noexcept { length_.observe(operations); }

 private:
  const RandomOptions options_;
  LengthEstimate length_;

  // Of the execution in progress.
  Prng prng_{0};
  double switch_probability_ = 0;
  Progress progress_;
  PlainPoints plain_;
};

}  // namespace weft::strategies
