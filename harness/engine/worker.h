// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The life of a worker process: warm up, snapshot, then execution after
// execution from the same state, until told to stop or until one goes wrong.
#pragma once

#include <cstdint>

#include "harness/engine/executor.h"
#include "harness/engine/strategy.h"
#include "harness/trace/channel.h"

namespace weft::engine {

/// The number of no step.
inline constexpr StepIndex kNoStep = ~StepIndex{0};

/// An access whose stack is wanted.
struct LookOut {
  TaskId task;
  std::uint64_t operation = 0;  // 0: nothing
  trace::AccessKind kind = trace::AccessKind::kRead;
};

/// What a worker needs to know; filled in by the explorer before it forks.
struct WorkerConfig {
  Strategy* strategy = nullptr;  // made before the fork; the worker owns its copy of the memory
  std::uint64_t seed = 1;
  std::uint64_t first = 1;             // index of the first execution
  std::uint64_t stride = 1;            // executions first, first + stride, ...
  std::uint64_t count = 0;             // at most so many
  std::uint64_t step_cap = 1'000'000;  // steps after which an execution is a finding
  bool memory_points = true;           // plain accesses may become schedule points
  bool detect_races = true;            // and uses of freed memory
  bool detect_leaks = true;            // of memory and of threads
  ExecutorKind executor = ExecutorKind::kBaton;
  bool record = false;  // fill channel.events and channel.stacks
  std::size_t choice_block_bytes = trace::ChoiceLog::kBlockBytes;  // smaller ones for tests
  std::size_t event_block = trace::EventLog::kBlockEvents;         // likewise
  LookOut look_out[trace::kMaxFindingAccesses] = {};               // filled from the front
  bool hash_every_execution = false;      // full trace hash (slower), for determinism checks
  bool pin = true;                        // to one processor: hand-offs stay on it
  std::uint32_t processor = 0;            // which one, modulo the number allowed
  std::uint32_t spurious_wakeups = 0;     // and weak compare-exchanges that fail, for no reason
  std::uint32_t allocation_failures = 0;  // likewise
  bool debugger = false;                  // wait for one at a finding, and before
  StepIndex stop_before = kNoStep;        // this step
  bool stop_in_warm_up = false;           // of the warm-up: it is there that the test fails
  int output_fd = -1;  // the subject's stdout and stderr go here (O_APPEND); -1: leave them
  /// Called in the worker after each finished execution, outside any task.
  void (*after_execution)(std::uint64_t execution, trace::Channel& channel,
                          void* context) = nullptr;
  void* after_execution_context = nullptr;
  /// Called on the task in place of the worker's exit with a finding, which is in the channel; must
  /// not return. Null: the worker exits.
  void (*found)(trace::Channel& channel, void* context) = nullptr;
  void* found_context = nullptr;
};

/// How a worker ends; also its exit status.
enum class WorkerExit : int {
  kFinished = 0,  // did its count, or was asked to stop, or the strategy is exhausted
  kFinding = 10,  // channel.finding is filled in
  kLeft = 11,     // whoever looked at it with a debugger went away
  kInternal = 3,  // a check of ours failed; one line is on stderr
};

/// Runs in a freshly forked, single-threaded process and never returns. `body`
/// is the test; it runs on a task of its own.
[[noreturn]] void run_worker(const WorkerConfig& config, trace::Channel& channel,
                             void (*body)(void*), void* argument) noexcept;

struct Worker;

/// The calling process as a worker, for whoever has a loop of executions of its own and goes on
/// from one to the next: what the loop keeps must be outside what a ProcessImage restores. `config`
/// and `channel` must stay. The caller's stack is left alone.
///
/// Thread-safety: of the thread that made it.
class ResidentWorker {
 public:
  /// Prepares, and runs the default schedule once.
  ResidentWorker(const WorkerConfig& config, trace::Channel& channel, void (*body)(void*),
                 void* argument) noexcept;
  /// Execution number `index`. Does not return if there is a finding.
  void run(std::uint64_t index, void* argument) noexcept;

 private:
  Worker& worker_;
};

}  // namespace weft::engine
