// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the strategies that draw every execution afresh have in common: the random numbers, how far
// the execution has come, and how long such executions are. What remains for each is pick().
#pragma once

#include "harness/base/prng.h"
#include "harness/engine/strategy.h"
#include "harness/strategies/fairness.h"
#include "harness/strategies/length_estimate.h"
#include "harness/strategies/operation_traits.h"
#include "harness/strategies/patience.h"
#include "harness/strategies/plain_points.h"
#include "harness/strategies/progress.h"

namespace weft::strategies {

/// An override of task_created() or executed() calls created(), or performed() and then
/// until_plain_point().
class Sampler : public engine::Strategy {
 public:
  /// draw_number()'s.
  std::uint64_t choose(const engine::Choice& choice) noexcept override {
    return draw_number(prng_, choice);
  }
  void task_created(TaskIndex task, TaskId, engine::TaskKind) noexcept override { created(task); }
  std::uint64_t executed(TaskIndex task, const trace::Operation& operation,
                         std::uint64_t operation_index, StepIndex) noexcept override {
    performed(task, operation);
    return until_plain_point(task, operation_index);
  }
  void went_on(TaskIndex task, std::uint64_t operation_index,
               std::uint64_t points) noexcept override {
    progress_.went_on(task, operation_index);
    fairness_.went_on(points);
  }
  void execution_ended(StepIndex) noexcept final { learn(operations()); }

  std::size_t save(unsigned char* buffer, std::size_t capacity) const noexcept final {
    return length_.save(buffer, capacity);
  }
  bool load(const unsigned char* buffer, std::size_t size) noexcept final {
    return length_.load(buffer, size);
  }

  /// Contested operations of the execution so far.
  [[nodiscard]] std::uint64_t operations() const noexcept { return progress_.contested(); }
  /// An execution of the program, perhaps another strategy's, had so many of them.
  void learn(std::uint64_t operations) noexcept { length_.observe(operations); }

 protected:
  // Leaves plain_ to its user.
  void begin_execution(std::uint64_t seed) noexcept {
    prng_ = Prng(seed);
    progress_.begin_execution();
    fairness_.begin_execution();
    patience_.begin_execution(prng_);
  }

  void created(TaskIndex task) noexcept {
    progress_.task_created(task);
    patience_.task_created(task);
  }
  /// Progress::executed()'s answer.
  [[gnu::always_inline]] TaskIndex performed(TaskIndex task,
                                             const trace::Operation& operation) noexcept {
    patience_.executed(task, operation);
    return progress_.executed(task, operation);
  }
  /// What executed() returns, where plain_ decides.
  [[gnu::always_inline]] std::uint64_t until_plain_point(TaskIndex task,
                                                         std::uint64_t operation_index) noexcept {
    progress_.resumed(task, operation_index);
    return progress_.alone() ? trace::kNever : plain_.until_next(progress_.contested());
  }

  LengthEstimate length_;

  // Of the execution in progress.
  Prng prng_{0};
  Progress progress_;
  PlainPoints plain_;
  Fairness fairness_;
  Patience patience_;
};

}  // namespace weft::strategies
