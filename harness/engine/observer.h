// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Who watches an execution. Observers never choose.
#pragma once

#include <cstdint>

#include "harness/engine/strategy.h"
#include "harness/engine/task.h"

namespace weft::engine {

/// One decided step, before its operation happens.
struct StepView {
  StepIndex step = 0;
  const Task* task = nullptr;  // who performs task->pending
  bool preempted = false;      // another enabled task was at the point
  std::size_t enabled_count = 0;
  std::uint64_t enabled = 0;  // tasks 0..63
  std::uint64_t digest = 0;   // history, this step included
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void execution_began() noexcept {}
  virtual void task_created(const Task&) noexcept {}
  /// The running task announced task.pending; its stack is the announcing one.
  virtual void announced(Task&) noexcept {}
  virtual void step(const StepView&) noexcept {}
  /// The operation of `task`'s latest step yielded `value`.
  virtual void yielded(const Task& task, std::uint64_t value) noexcept { (void)task, (void)value; }
  virtual void execution_ended() noexcept {}
};

}  // namespace weft::engine
