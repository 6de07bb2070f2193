// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How far an execution has come, counted in contested operations: those, plain
// accesses included, at which another task could have gone instead.
//
// A test's set-up and tear-down run alone, and may be a thousand times longer
// than what runs side by side. Counting only contested operations keeps PCT's
// change points, and the gaps between considered plain accesses, where they matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "harness/base/ids.h"
#include "harness/base/mapped_array.h"
#include "harness/engine/strategy.h"
#include "harness/strategies/operation_traits.h"
#include "harness/trace/channel.h"

namespace weft::strategies {

/// To be told of every decision, step and task that runs on, in the engine's order.
class Progress {
 public:
  Progress() noexcept : announced_(trace::kMaxTasks) {}

  void begin_execution() noexcept {
    contested_ = 0;
    running_ = kNoTaskIndex;
    decided_ = false;
    alone_ = false;
  }

  void task_created(TaskIndex task) noexcept { announced_.data()[task] = 0; }

  /// A decision: `at` has run up to it, plain accesses on the way, past others that were enabled.
  void decided(const engine::Decision& decision) noexcept {
    decided_ = true;
    if (decision.at == kNoTaskIndex) return;
    contested_ += announce(decision.at, decision.at_operation);
  }

  /// What `task` did up to that operation was contested, though nobody was asked.
  void went_on(TaskIndex task, std::uint64_t operation_index) noexcept {
    contested_ += announce(task, operation_index);
  }

  /// Returns the task that was found blocked when this step was forced, if any:
  /// its operation could come before or after those of the task that went on.
  TaskIndex executed(TaskIndex task, const trace::Operation& operation) noexcept {
    const bool forced = !decided_;
    TaskIndex blocked = kNoTaskIndex;
    if (forced && running_ != kNoTaskIndex && running_ != task && !ended_) {
      blocked = running_;
      ++contested_;
    }
    decided_ = false;
    alone_ = forced && enables_none(operation.kind);
    ended_ = operation.kind == trace::OpKind::kTaskEnd;
    running_ = task;
    return blocked;
  }

  /// `task` runs on, having announced `operation_index` operations.
  void resumed(TaskIndex task, std::uint64_t operation_index) noexcept {
    announce(task, operation_index);
  }

  /// Contested operations so far.
  [[nodiscard]] std::uint64_t contested() const noexcept { return contested_; }
  /// No other task is enabled, nor will be before the running one performs
  /// something that is a point in any case.
  [[nodiscard]] bool alone() const noexcept { return alone_; }

 private:
  std::uint64_t announce(TaskIndex task, std::uint64_t operation_index) noexcept {
    std::uint64_t& announced = announced_.data()[task];
    if (operation_index <= announced) return 0;
    return operation_index - std::exchange(announced, operation_index);
  }

  MappedArray<std::uint64_t> announced_;  // by task: operation index up to which it is counted
  std::uint64_t contested_ = 0;
  TaskIndex running_ = kNoTaskIndex;  // who performed the latest step
  bool decided_ = false;              // a decision precedes the next step
  bool alone_ = false;
  bool ended_ = false;  // running_ has
};

}  // namespace weft::strategies
