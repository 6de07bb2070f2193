// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Exploration as its supervisor runs it. Executions happen in worker processes,
// one lane of them per job: lane w runs executions w+1, w+1+jobs, w+1+2*jobs, ...
// A C++ execution that crashed or deadlocked cannot be unwound, so it takes its
// worker with it; the lane goes on at its next execution in a new worker, which
// is handed what the strategy had learnt.
//
// Every finding is confirmed before anybody hears of it: a strict replay in a
// fresh worker, recorded in full. The trace is the replay's.
//
// Determinism: for given options and jobs, each lane's executions are the same
// whatever the lanes' relative speed. Without keep_going the finding handed over is
// the one with the lowest execution number, not the first in real time.
//
// Thread-safety: none. Call from a process with a single thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/engine/explorer_worker.h"

namespace weft::engine {

struct ExplorerConfig {
  /// strategy, first, stride, count, record and processor are filled in per worker.
  WorkerConfig worker = {};
  std::uint64_t schedules = 1000;  // executions at most
  double seconds = 0;              // wall-clock limit; 0: none
  unsigned jobs = 1;               // lanes, each with a worker process at a time
  bool keep_going = false;         // go on after the first finding
  double hang_seconds = 10;        // real time without a step before a task counts as hung
  WorkerMain worker_main = &run_worker;
};

inline constexpr std::uint64_t kUnlimitedSchedules = ~std::uint64_t{0};

/// One finding, confirmed or not, handed over while its channels live.
struct Sighting {
  std::uint64_t execution = 0;  // from 1
  std::uint64_t identity = 0;   // equal for what counts as the same bug
  WorkerOutcome outcome;        // what was found, or kNondeterminism if it did not come again
  const trace::Channel* failed = nullptr;    // of the execution that failed: its choice log
  const trace::Channel* recorded = nullptr;  // of the replay that showed it again: events, stacks
  bool reproduced = false;
};

struct Progress {
  std::uint64_t executions = 0;
  std::uint64_t steps = 0;
  double seconds = 0;
  double distinct = 0;         // approximate number of distinct schedules
  std::uint64_t findings = 0;  // distinct bugs
};

/// What the explorer needs from whoever asked for the exploration.
class ExplorerHost {
 public:
  virtual ~ExplorerHost() = default;
  /// A fresh strategy for a worker of `lane`; never null.
  virtual std::unique_ptr<Strategy> make_strategy(unsigned lane) = 0;
  /// A strategy that follows the choice log in `failed` strictly; never null.
  virtual std::unique_ptr<Strategy> make_replay(const trace::Channel& failed) = 0;
  /// Whether the user has said, with a reason, that what ended the worker's execution is not to be
  /// reported. Asked once for each such execution.
  virtual bool suppresses(const SupervisedWorker& worker) { return (void)worker, false; }
  /// Whether the race in the worker, whose identity is new, is to its reader one that was found
  /// before: the same lines of source about the same variable. It is then reported no more. Asked
  /// once for each identity.
  virtual bool is_told(const SupervisedWorker& worker, std::uint64_t identity) {
    return (void)worker, (void)identity, false;
  }
  /// A bug not seen before in this exploration.
  virtual void found(const Sighting& sighting) = 0;
  /// The bug of that identity again, in another execution.
  virtual void found_again(std::uint64_t identity) = 0;
  /// The race of that identity, found or suppressed, was passed over in so many executions. Once
  /// each, at the end.
  virtual void passed_over(std::uint64_t identity, std::uint64_t executions) {
    (void)identity, (void)executions;
  }
  /// A few times per second.
  virtual void progress(const Progress& progress) = 0;
};

struct ExplorerResult {
  Progress progress;
  bool exhausted = false;      // a strategy has seen every schedule that it can make
  bool interrupted = false;    // by SIGINT or SIGTERM
  std::string error;           // user error or unsupported facility, one line
  std::string internal_error;  // a bug of ours
  std::vector<trace::Mark> marks;
};

/// Explores `body`; returns when a limit is reached, something was found, or a
/// signal came. SIGINT and SIGTERM are caught meanwhile; a second one acts as if they were not.
ExplorerResult explore(const ExplorerConfig& config, Body body, ExplorerHost& host);

/// For a replay of what hung: it is not given the whole time again.
[[nodiscard]] double hang_seconds_again(const ExplorerConfig& config);

/// One execution in a fresh worker, for confirmation and for replay, recorded in
/// full if `record`. `worker` must have been prepared; its channel and outcome tell
/// the rest. False where the system refuses a process.
[[nodiscard]] bool run_single(const ExplorerConfig& config, Body body, Strategy& strategy,
                              std::uint64_t execution, bool record, SupervisedWorker& worker);

/// True where `again`, the outcome of a replay, shows what `original` showed.
[[nodiscard]] bool same_finding(const trace::Finding& original, const WorkerOutcome& again);

/// Same kind, message and place: the same bug. Independent of the schedule.
[[nodiscard]] std::uint64_t identity_of(const trace::Channel& channel,
                                        const trace::Finding& finding);
/// The same, of a race that the engine knows by `race`.
[[nodiscard]] std::uint64_t identity_of_race(std::uint64_t race);

}  // namespace weft::engine
