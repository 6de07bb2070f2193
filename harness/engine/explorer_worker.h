// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A worker under supervision: its process, the channel that outlives it, the
// watchdog, and the verdict on how it ended.
//
// Thread-safety: none. Invariant: the channel belongs to this object and stays
// readable until the next start().
#pragma once

#include <cstdint>
#include <string>

#include "harness/engine/explorer_process.h"
#include "harness/engine/explorer_watchdog.h"

namespace weft::engine {

/// The verdict on a worker that ended.
struct WorkerOutcome {
  enum class Kind : std::uint8_t {
    kFinished,  // did its count, was told to stop, or the strategy is exhausted
    kFinding,   // `finding` says what went wrong in execution number `execution`
    kInternal,  // a bug of ours: `error`
  };
  Kind kind = Kind::kFinished;
  std::uint64_t execution = 0;
  bool in_warm_up = false;
  trace::Finding finding;
  HangFacts hang;  // of a kHang finding
  std::string error;
  std::string output;  // the end of what the subject wrote
};

class SupervisedWorker {
 public:
  SupervisedWorker() = default;
  ~SupervisedWorker();
  SupervisedWorker(const SupervisedWorker&) = delete;
  SupervisedWorker& operator=(const SupervisedWorker&) = delete;

  /// Maps the channel; false and errno where the system refuses the memory.
  [[nodiscard]] bool prepare();

  /// Starts the next worker on the same channel: its counters, marks and the
  /// strategy's state go on, what belongs to one execution is cleared.
  [[nodiscard]] bool start(WorkerMain worker_main, const WorkerConfig& config, Body body,
                           double hang_seconds);

  /// Looks after the worker; `elapsed` is the real time in seconds since the last
  /// call. True once it has ended, and then outcome() is valid.
  bool poll(double elapsed);

  /// Polls until the worker has ended: bounded by the step cap and the watchdog.
  void wait();

  /// Starts a worker that stops for a debugger, at a finding and before step `stop_before`, and
  /// returns when it has, or has ended. False where the system refuses a process.
  [[nodiscard]] bool run_to_stop(WorkerMain worker_main, WorkerConfig config, Body body,
                                 double hang_seconds);

  /// Whether somebody holds it with a debugger: it is then not to be hurried.
  [[nodiscard]] bool in_debugger() const { return running() && is_traced(process_.pid()); }
  [[nodiscard]] pid_t pid() const noexcept { return process_.pid(); }

  void ask_to_stop() noexcept { channel_->stop_requested.store(true, std::memory_order_relaxed); }
  void kill() noexcept { process_.kill(); }

  [[nodiscard]] bool running() const noexcept { return process_.running(); }
  [[nodiscard]] int wait_fd() const noexcept { return process_.wait_fd(); }
  [[nodiscard]] trace::Channel& channel() const noexcept { return *channel_; }
  /// What was found is in the channel's finding as well, whoever wrote it.
  [[nodiscard]] const WorkerOutcome& outcome() const noexcept { return outcome_; }

 private:
  void watch(double elapsed);
  void wait_until(bool (*done)(const trace::Channel&));
  void judge();
  void blame_hang();
  void blame_death(const std::string& message);

  WorkerProcess process_;
  trace::Channel* channel_ = nullptr;
  trace::SpillFile choices_file_;  // what does not fit into the channel
  trace::SpillFile events_file_;
  StallClock clock_;
  double hang_seconds_ = 0;
  double answer_seconds_ = 0;  // since the stack was asked for
  bool hung_ = false;
  HangFacts hang_;
  WorkerOutcome outcome_;
};

}  // namespace weft::engine
