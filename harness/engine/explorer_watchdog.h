// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The real-time watchdog: notices a worker that takes no step, and asks the
// kernel what its running task is doing. What is not controlled (blocking input,
// an endless loop without instrumentation) thus becomes one clear finding, never
// a hang.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "harness/trace/channel.h"

namespace weft::engine {

/// Real time in which a worker made no progress. Fed by the supervisor's loop.
class StallClock {
 public:
  /// Adds `elapsed` seconds unless the worker moved since the last call, and
  /// returns the total. One call counts for kMaxTick at most: while the supervisor
  /// itself was stopped (Ctrl-Z, a suspended machine) its workers were too.
  double advance(const trace::Channel& channel, double elapsed) noexcept;
  void reset() noexcept { *this = StallClock(); }

  static constexpr double kMaxTick = 0.25;

 private:
  std::uint64_t heartbeat_ = 0;
  std::uint64_t execution_ = 0;
  trace::WorkerPhase phase_ = trace::WorkerPhase::kStarting;
  double stalled_ = 0;
};

/// What the kernel says about a thread that does not come back.
struct HangFacts {
  bool known = false;  // false: /proc would not tell
  bool in_system_call = false;
  std::string activity;      // "it is in read(0, ...)", "it is computing", ...
  std::string hint;          // "blocking input is not controlled", or empty
  std::string wait_channel;  // the kernel function it sleeps in, or empty
};

[[nodiscard]] HangFacts observe_thread(pid_t process, pid_t thread);

/// Part of observe_thread(): judges the text of /proc/PID/task/TID/syscall.
[[nodiscard]] HangFacts interpret_system_call(const std::string& proc_syscall, char state);

/// True while a debugger holds `process`: time does not count then.
[[nodiscard]] bool is_traced(pid_t process);

/// Interrupts `thread` so that the worker's handler writes its stack into the
/// channel. False when it is gone.
bool ask_for_stack(pid_t process, pid_t thread) noexcept;

}  // namespace weft::engine
