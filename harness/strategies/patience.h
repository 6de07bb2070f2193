// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// When a yield is to be taken at its word.
//
// A task that yields while it waits says that the others should get on, and mostly
// they do. But many a wait begins with a few yields and then sleeps (libstdc++'s
// atomic waits: four, and then the futex): if each gave way, a task would hardly
// ever be asleep when the notification comes, or fails to come.
#pragma once

#include <cstdint>

#include "harness/base/ids.h"
#include "harness/base/mapped_array.h"
#include "harness/base/prng.h"
#include "harness/strategies/operation_traits.h"
#include "harness/trace/channel.h"

namespace weft::strategies {

/// To be told of every task and step, in the engine's order.
class Patience {
 public:
  /// Yields in a row that a patient execution overlooks, with no more than looks between them.
  static constexpr std::uint32_t kOverlooked = 16;

  Patience() noexcept : yields_(trace::kMaxTasks) {}

  /// One execution of four is patient.
  void begin_execution(Prng& prng) noexcept { patient_ = prng.below(4) == 0; }

  void task_created(TaskIndex task) noexcept { yields_.data()[task] = 0; }

  void executed(TaskIndex task, const trace::Operation& operation) noexcept {
    if (!patient_) return;  // and nobody asks
    if (operation.kind == trace::OpKind::kYield) {
      ++yields_.data()[task];
    } else if (trace::access_of(operation.kind) != trace::Access::kRead) {
      yields_.data()[task] = 0;
    }
  }

  /// Whether what `task` does between its yields must be told.
  [[nodiscard]] bool counts(TaskIndex task) const noexcept {
    return patient_ && yields_.data()[task] != 0;
  }

  /// Whether `task`, which is about to perform an operation of that kind, waits for others to get
  /// on.
  [[nodiscard]] bool gives_way(TaskIndex task, trace::OpKind kind) const noexcept {
    if (!strategies::gives_way(kind)) return false;
    return !patient_ || kind != trace::OpKind::kYield || yields_.data()[task] >= kOverlooked;
  }

 private:
  MappedArray<std::uint32_t> yields_;  // by task: in a row
  bool patient_ = false;
};

}  // namespace weft::strategies
