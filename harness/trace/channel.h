// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The memory that a worker process shares with its supervisor.
//
// Whatever a worker knows about the execution in progress lives here *while* it
// happens, so that a worker that crashes, deadlocks or is killed loses nothing:
// the supervisor reads the choice log of the failed execution out of it. What grows with the
// execution's length is bounded here and goes on in files (spill.h).
//
// Thread-safety: one writer (the worker's running task), one reader (the
// supervisor). Counters that the supervisor polls are atomics; the rest is read
// only after the worker ended or while it is stopped.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "harness/trace/choice_log.h"
#include "harness/trace/event_log.h"
#include "harness/trace/finding.h"

namespace weft::trace {

inline constexpr std::size_t kMaxStacks = std::size_t{1} << 18;
inline constexpr std::size_t kMaxModules = 256;
inline constexpr std::size_t kMaxMarks = 256;
inline constexpr std::size_t kMaxKnownRaces = 256;
inline constexpr std::size_t kStrategyStateBytes = 64 * 1024;
// HyperLogLog: 1.04/sqrt(4096) = 1.6 % error
inline constexpr std::size_t kEstimatorRegisters = 4096;

struct ModuleRow {
  std::uintptr_t base = 0;  // load bias (dlpi_addr): offsets are the ELF file's virtual addresses
  std::uint64_t id = 0;     // hash of the basename
  char path[240] = {};
};

/// A weft::sometimes or weft::reachable site.
struct Mark {
  std::uint64_t id = 0;
  std::uint64_t hits = 0;            // executions in which it held
  std::uint64_t last_execution = 0;  // the latest such execution, plus 1
  char text[112] = {};
};

/// A race that was reported or suppressed: it is counted and passed over.
struct KnownRace {
  std::uint64_t identity = 0;
  std::uint64_t executions = 0;  // in which it showed
  ObjectId object;
};

/// What the worker is doing, for the supervisor's clock.
enum class WorkerPhase : std::uint32_t { kStarting, kWarmUp, kExecuting, kBetween, kFound, kDone };

/// Whether a worker has stopped for somebody to look at it.
enum class Debugger : std::uint32_t { kNone, kWanted, kPresent };

struct Channel {
  // Polled while the worker runs.
  std::atomic<WorkerPhase> phase{WorkerPhase::kStarting};
  std::atomic<std::uint64_t> heartbeat{0};   // grows with every step but plain accesses
  std::atomic<std::uint64_t> executions{0};  // finished by all workers that used this channel
  std::atomic<std::uint64_t> current{0};     // index of the execution in progress
  std::atomic<std::uint64_t> total_steps{0};
  std::atomic<std::int32_t> running_tid{0};  // kernel thread of the running task
  std::atomic<bool> stop_requested{false};
  std::atomic<bool> exhausted{false};  // the strategy has no further execution
  std::atomic<Debugger> debugger{Debugger::kNone};

  // Read after the execution ended badly (or after a recorded replay).
  std::atomic<bool> finding_ready{false};
  Finding finding;
  StepIndex steps = 0;
  std::uint64_t switches = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t schedule_digest = 0;  // of the whole execution so far
  std::uint64_t trace_hash = 0;       // schedule-independent full hash; recorder only
  std::uint32_t task_count = 0;
  TaskRow tasks[kMaxTasks];
  ChoiceLog choices;
  std::uint32_t module_count = 0;
  ModuleRow modules[kMaxModules];
  std::uint64_t mark_count = 0;
  Mark marks[kMaxMarks];
  std::uint32_t known_race_count = 0;  // grows while no worker runs
  KnownRace known_races[kMaxKnownRaces];
  std::uint8_t estimator[kEstimatorRegisters] = {};  // distinct schedules, all executions
  std::size_t strategy_state_size = 0;
  unsigned char strategy_state[kStrategyStateBytes] = {};

  // Recorded replays only; pages untouched otherwise cost nothing.
  std::uint32_t stack_count = 0;
  FindingAccess seen[kMaxFindingAccesses];  // what WorkerConfig::look_out asked for
  EventLog events;
  Stack stacks[kMaxStacks];

  /// What every execution begins without.
  void forget_schedule() noexcept {
    steps = switches = preemptions = schedule_digest = 0;
    task_count = 0;
    choices.clear();
  }
};

/// Maps a fresh, zeroed channel (MAP_SHARED, MAP_NORESERVE); nullptr and errno on failure.
[[nodiscard]] Channel* map_channel() noexcept;
void unmap_channel(Channel* channel) noexcept;

}  // namespace weft::trace
