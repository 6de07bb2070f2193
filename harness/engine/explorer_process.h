// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One worker process as its supervisor sees it: forked, polled, stopped, reaped.
//
// Thread-safety: none; the supervisor is single-threaded, and must be, because a
// fork takes along the calling thread alone.
// Invariants: 1. a started process is reaped exactly once, at the latest by the
// destructor. 2. No worker outlives its supervisor, however that ends.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>

#include "harness/engine/worker.h"
#include "harness/trace/channel.h"

namespace weft::engine {

/// What runs in the forked process: run_worker(), or a test's stand-in.
using WorkerMain = void (*)(const WorkerConfig&, trace::Channel&, void (*body)(void*),
                            void* argument);

/// The test, as a worker runs it.
struct Body {
  void (*function)(void*) = nullptr;
  void* argument = nullptr;
};

/// Calls `function`, which must outlive it, once an execution.
[[nodiscard]] Body body_of(const std::function<void()>& function) noexcept;

/// How a worker process ended, before anybody judged what that means.
struct ProcessEnd {
  bool by_signal = false;
  int code = 0;  // exit status, or the signal's number
};

class WorkerProcess {
 public:
  WorkerProcess() = default;
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Forks a worker. `config.output_fd` is replaced by a memory file of this
  /// process where `capture_output` is set. False, with errno, where the system
  /// refuses another process or descriptor.
  [[nodiscard]] bool start(WorkerMain worker_main, WorkerConfig config, trace::Channel& channel,
                           Body body, bool capture_output);

  [[nodiscard]] bool running() const noexcept { return pid_ > 0; }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  /// Readable once the process has ended; -1 where the kernel lacks pidfd_open
  /// (Linux before 5.3), in which case reap() must be polled.
  [[nodiscard]] int wait_fd() const noexcept { return pidfd_; }

  /// True once the process has ended (now or earlier); end() then says how.
  bool reap() noexcept;

  /// Waits at most `milliseconds`; true when the process has ended.
  bool wait(int milliseconds) noexcept;

  /// SIGKILL, and reaps; nothing when no process runs.
  void kill() noexcept;

  [[nodiscard]] ProcessEnd end() const noexcept { return end_; }

  /// The last `limit` bytes that the subject wrote to its standard output and error.
  [[nodiscard]] std::string output_tail(std::size_t limit) const;

  /// Gives back the memory of all but the last half of kOutputLimit when the captured output has
  /// grown past that, so that a chatty subject does not fill it.
  void trim_output() noexcept;

  static constexpr std::size_t kOutputLimit = std::size_t{1} << 20;

 private:
  void close_all() noexcept;

  pid_t pid_ = -1;
  int pidfd_ = -1;
  int output_fd_ = -1;
  ProcessEnd end_;
};

}  // namespace weft::engine
