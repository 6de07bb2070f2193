// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How many operations an execution has performed so far, plain accesses that
// were never schedule points included, from the per-task counts that the engine
// mentions at every point.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/base/ids.h"
#include "harness/base/mapped_array.h"
#include "harness/trace/channel.h"

namespace weft::strategies {

/// Invariant: total_ is the sum of counts_ over the execution's tasks. A pending
/// operation counts as soon as it has been announced, so every operation of the
/// execution is the n-th for exactly one n.
class OperationCount {
 public:
  OperationCount() noexcept : counts_(trace::kMaxTasks) {}

  void begin_execution() noexcept {
    for (std::size_t i = 0; i < tasks_; ++i) counts_[i] = 0;
    tasks_ = 0;
    total_ = 0;
  }

  /// `task` has announced `operation_index` operations; returns the new total.
  std::uint64_t note(TaskIndex task, std::uint64_t operation_index) noexcept {
    if (task == kNoTaskIndex) return total_;
    if (task >= tasks_) tasks_ = std::size_t{task} + 1;
    std::uint64_t& count = counts_[task];
    if (operation_index > count) {
      total_ += operation_index - count;
      count = operation_index;
    }
    return total_;
  }

  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }

 private:
  MappedArray<std::uint64_t> counts_;
  std::size_t tasks_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace weft::strategies
