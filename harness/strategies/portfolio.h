// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The default: several strategies in turn, because no one of them is best on
// every bug.
//
// The three fixed schedules of RoundRobin come first: they cost three executions and
// find the plainest bugs at once. Then POS (short bugs, any length of program),
// PCT at depths 2, 3 and 5 (long delays), random and randomised round-robin alternate by the
// number of the execution, so that parallel workers cover all of them. What one
// learns about the program's length, all know.
//
// Source: that schedulers complement one another and POS and PCT lead is the
// finding of Thomson, Donaldson, Betts (TOPC 2016) and of the POS paper's
// section 6 (CAV 2018). The proportions are ours.
#pragma once

#include "harness/engine/strategy.h"
#include "harness/strategies/pct.h"
#include "harness/strategies/pos.h"
#include "harness/strategies/random.h"
#include "harness/strategies/round_robin.h"
#include "harness/strategies/sampler.h"

namespace weft::strategies {

class Portfolio final : public engine::Strategy {
 public:
  Portfolio() noexcept = default;
  Portfolio(const Portfolio&) = delete;  // active_ points into this object
  Portfolio& operator=(const Portfolio&) = delete;

  [[nodiscard]] std::string_view name() const noexcept override { return "portfolio"; }
  engine::Next next_execution(std::uint64_t execution, std::uint64_t seed) noexcept override;
  std::size_t pick(const engine::Decision& decision) noexcept override {
    return active_->pick(decision);
  }
  [[nodiscard]] engine::Leeway leeway() const noexcept override { return active_->leeway(); }
  void went_on(TaskIndex task, std::uint64_t operation_index,
               std::uint64_t points) noexcept override {
    active_->went_on(task, operation_index, points);
  }
  std::uint64_t choose(const engine::Choice& choice) noexcept override {
    return active_->choose(choice);
  }
  void task_created(TaskIndex task, TaskId id, engine::TaskKind kind) noexcept override {
    active_->task_created(task, id, kind);
  }
  std::uint64_t executed(TaskIndex task, const trace::Operation& operation,
                         std::uint64_t operation_index, StepIndex step) noexcept override {
    return active_->executed(task, operation, operation_index, step);
  }
  void execution_ended(StepIndex steps) noexcept override;
  std::size_t save(unsigned char* buffer, std::size_t capacity) const noexcept override;
  bool load(const unsigned char* buffer, std::size_t size) noexcept override;

  /// The strategy of the execution in progress, for tests.
  [[nodiscard]] const engine::Strategy& active() const noexcept { return *active_; }

 private:
  Sampler& choose_member(std::uint64_t execution) noexcept;

  RoundRobin round_robin_;
  Pos pos_;
  Pct pct_;
  Random random_;
  Sampler* active_ = &round_robin_;
};

}  // namespace weft::strategies
