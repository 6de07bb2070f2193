// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Partial order sampling: every pending operation has a random priority of its
// own, the highest enabled one runs, and what it raced with draws anew.
//
// Source: Yuan, Yang, Gu, 'Partial order aware concurrency sampling' (CAV 2018),
// section 3 (BasicPOS, POS). Redrawing makes the order of each racing pair independent
// of those before it, so that partial orders are sampled more evenly than by a
// random walk, which prefers those with many linearisations.
//
// Deviations:
//  1. Plain accesses are considered after random gaps (PlainPoints) rather than
//     all of them; those between belong to the operation before. `plain` fixes the gap.
//  2. Two operations race when both were enabled, touch overlapping memory and are
//     not both reads; locks, condition variables and the like count as writes.
//  3. Operations that commute with all others (begin, end, spawn, an enabled join)
//     go at once, so that more of those that race are pending side by side.
//  4. A task about to yield or sleep has the lowest priority, and when Fairness
//     overrules, all pending operations draw anew: a spinning task would
//     otherwise wait for one of its loads to draw below an unlucky operation.
//     One execution of four overlooks a few yields (Patience).
#pragma once

#include "harness/base/fixed_vector.h"
#include "harness/base/mapped_array.h"
#include "harness/strategies/sampler.h"
#include "harness/trace/channel.h"

namespace weft::strategies {

struct PosOptions {
  std::uint64_t plain_gap =
      0;  // average operations between considered plain accesses, to a power of two; 0: drawn
};

class Pos final : public Sampler {
 public:
  explicit Pos(PosOptions options = {}) noexcept : options_(options), pending_(trace::kMaxTasks) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "pos"; }
  engine::Next next_execution(std::uint64_t execution, std::uint64_t seed) noexcept override;
  std::size_t pick(const engine::Decision& decision) noexcept override;
  void task_created(TaskIndex task, TaskId id, engine::TaskKind kind) noexcept override;
  std::uint64_t executed(TaskIndex task, const trace::Operation& operation,
                         std::uint64_t operation_index, StepIndex step) noexcept override;

 private:
  struct Pending {
    std::uint64_t operation_index;
    std::uint64_t priority;
    std::uintptr_t address;
    std::uint8_t width;
    trace::Access access;
    bool drawn;  // priority belongs to operation_index
  };

  void draw(Pending& pending, const engine::EnabledTask& task, bool overruled) noexcept;

  const PosOptions options_;

  // Of the execution in progress.
  MappedArray<Pending> pending_;  // by task
  FixedVector<TaskIndex, trace::kMaxTasks>
      co_enabled_;  // at the latest decision, until its operation is done
};

}  // namespace weft::strategies
