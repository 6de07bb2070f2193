// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tasks in turn, each for a quantum of points. Three fixed schedules first, then
// random ones.
//
// Source: deterministic round-robin as the zero-delay schedule of Emmi, Qadeer,
// Rakamaric, 'Delay-bounded scheduling' (POPL 2011), section 2.
//
// Deviations: they explore by delaying one deterministic scheduler; we vary the
// scheduler itself, by the number of the execution:
//  1. Lockstep. Quantum 1, creation order, every plain access a point. A task that
//     spawned others goes on until it blocks, so that siblings set off together
//     however long it takes to create them. Lost updates, check-then-act and
//     AB-BA between siblings fail here.
//  2. Newest first. No preemption; when a task blocks, the next older one goes on.
//     Those who wait come before those who signal, hence lost wake-ups.
//  3. Strict. As 1, but the spawner takes its turn like the others.
//  4. and later: random quanta per task, random direction, random density of plain points.
// Once Fairness has overruled, each turn has a quantum of its own: two tasks that
// back off from each other in step, as std::scoped_lock does, would otherwise do so for ever.
// Timers take part from 4 on; before, they fire only when no thread can run or Fairness overrules.
#pragma once

#include "harness/base/mapped_array.h"
#include "harness/strategies/sampler.h"

namespace weft::strategies {

class RoundRobin final : public Sampler {
 public:
  /// Executions with a fixed schedule, whatever the seed.
  static constexpr std::uint64_t kFixedSchedules = 3;

  RoundRobin() noexcept : is_spawner_(trace::kMaxTasks) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "round_robin"; }
  engine::Next next_execution(std::uint64_t execution, std::uint64_t seed) noexcept override;
  std::size_t pick(const engine::Decision& decision) noexcept override;
  std::uint64_t choose(const engine::Choice& choice) noexcept override;
  void task_created(TaskIndex task, TaskId id, engine::TaskKind kind) noexcept override;
  std::uint64_t executed(TaskIndex task, const trace::Operation& operation,
                         std::uint64_t operation_index, StepIndex step) noexcept override;

 private:
  enum class Schedule : std::uint8_t { kLockstep, kNewestFirst, kStrict, kRandom };

  [[nodiscard]] std::uint64_t quantum_of(TaskIndex task) const noexcept;
  [[nodiscard]] bool goes_on(const engine::EnabledTask& task) const noexcept;
  [[nodiscard]] std::size_t next_after(const engine::Decision& decision,
                                       bool timers) const noexcept;

  // Of the execution in progress.
  Schedule schedule_ = Schedule::kLockstep;
  std::uint64_t seed_ = 0;
  bool ascending_ = true;
  unsigned quantum_log2_ = 0;
  MappedArray<bool> is_spawner_;  // kLockstep: has spawned and not blocked since
  TaskIndex turn_ = 0;            // who performed the latest step
  std::uint64_t used_ = 0;        // and how many it has performed in a row
  std::uint64_t turns_ = 0;       // that began
  bool restless_ = false;         // Fairness has overruled
};

}  // namespace weft::strategies
