// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the supervisor's real-time watchdog and the worker agree on.
//
// A task that does not come back to the engine (blocking input, an endless loop
// in code that is not instrumented) is interrupted by kWatchdogSignal, sent to
// its kernel thread. The worker's handler writes that thread's stack into
// channel.finding, kind kHang, and as its detail "LIBRARY FUNCTION" if the thread
// is in a library that is not instrumented, sets finding_ready and leaves with
// WorkerExit::kFinding. A worker that does not answer in kWatchdogAnswerMs is killed.
#pragma once

#include <csignal>

namespace weft::engine {

/// Ignored by default, so that a worker without its handler yet is not killed by it.
inline constexpr int kWatchdogSignal = SIGURG;

/// Unwinding 32 frames takes microseconds; a process that the machine swapped out takes longer.
inline constexpr int kWatchdogAnswerMs = 2000;

}  // namespace weft::engine
