// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Probabilistic concurrency testing: random priorities, the highest enabled task
// runs, and at d - 1 random places the running task's priority drops.
//
// Source: Burckhardt, Kothari, Musuvathi, Nagarakatte, 'A randomized scheduler
// with probabilistic guarantees of finding bugs' (ASPLOS 2010), sections 3.1
// (bug depth) and 3.3 (the algorithm). A bug of depth d in a program of n tasks and k steps
// is hit with probability at least 1/(n k^(d-1)) in every execution.
//
// Deviations:
//  1. A change point is a place before an operation rather than after a step, and k
//     counts contested operations only (Progress): where no other task can go, a
//     lower priority changes nothing. Plain accesses count, and a change point on one
//     makes it a schedule point.
//  2. k is learnt: the longest recent execution (LengthEstimate). The first
//     execution guesses.
//  3. Priorities are random 62-bit numbers given to tasks as they are created;
//     the paper draws a permutation of n tasks. The orders are equally likely.
//  4. A task that is about to yield or sleep, or a timer that has fired, drops
//     below all others (section 4.2 does so for yields), and so does one that
//     Fairness overrules; else a spinning task of high priority would never
//     end. Where that happens, the bound holds from one such drop to the next.
//     One execution of four overlooks a few yields (Patience).
//  5. The depth is the same in every execution: an execution with d - 1 change
//     points also hits bugs of lesser depth, and a mixture would divide the bound for d.
//  6. Operations that commute with all others (begin, end, spawn, an enabled join) are no
//     place for a switch: the running task performs them at once.
#pragma once

#include "harness/base/fixed_vector.h"
#include "harness/base/mapped_array.h"
#include "harness/strategies/sampler.h"

namespace weft::strategies {

struct PctOptions {
  unsigned depth = 3;  // 1 .. Pct::kMaxDepth
};

class Pct final : public Sampler {
 public:
  static constexpr unsigned kMaxDepth = 32;

  explicit Pct(PctOptions options = {}) noexcept;

  [[nodiscard]] std::string_view name() const noexcept override { return "pct"; }
  engine::Next next_execution(std::uint64_t execution, std::uint64_t seed) noexcept override;
  std::size_t pick(const engine::Decision& decision) noexcept override;
  [[nodiscard]] engine::Leeway leeway() const noexcept override;
  void task_created(TaskIndex task, TaskId id, engine::TaskKind kind) noexcept override;
  std::uint64_t executed(TaskIndex task, const trace::Operation& operation,
                         std::uint64_t operation_index, StepIndex step) noexcept override;

  /// From the next execution on.
  void set_depth(unsigned depth) noexcept;
  /// k.
  [[nodiscard]] std::uint64_t step_bound() const noexcept { return length_.operations(); }

 private:
  // Initial priorities are above kInitial, those of change points 1 .. d - 1,
  // demotions 0, -1, -2 and so on: always below every other task.
  using Priority = std::int64_t;
  static constexpr Priority kInitial = Priority{1} << 62;

  struct ChangePoint {
    std::uint64_t operation;  // contested, of the whole execution, from 1
    Priority priority;
  };

  // `change` comes behind those of the same operation.
  void insert_change(const ChangePoint& change) noexcept;
  // `task` is at the latest contested operation: applies what was to change by then.
  void apply_changes(TaskIndex task) noexcept;
  void demote(TaskIndex task) noexcept { priorities_.data()[task] = lowest_--; }

  unsigned depth_;

  // Of the execution in progress.
  MappedArray<Priority> priorities_;
  FixedVector<ChangePoint, kMaxDepth> changes_;  // by operation, then by priority, ascending
  std::size_t next_change_ = 0;
  Priority lowest_ = 0;
  TaskIndex at_ = kNoTaskIndex;     // whom the latest decision picked, and
  std::uint64_t at_operation_ = 0;  // that task's operation then
  std::uint64_t next_plain_ = 0;  // the contested operation from which a plain access is considered
};

}  // namespace weft::strategies
