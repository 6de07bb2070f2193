// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Whether anything still happens: the difference between waiting and spinning.
//
// A task is idle while it only looks: loads, fences, yields, tries that fail,
// exchanges that leave the value as it was. Whatever changes something for
// anybody starts a new epoch, in which everybody's idleness is counted afresh.
// When every task that can run has been idle for kLivelockPoints points of one
// epoch, each has been run again since the last change and none got on: they
// will go on like that for ever (a task is deterministic in what it reads).
//
// Source: fairness and its livelocks are those of CHESS (Musuvathi and Qadeer,
// PLDI 2008); the bound stands in for their loop detection, and is large enough
// for a loop that gives up after so many tries.
#pragma once

#include <cstdint>

#include "harness/trace/choice.h"
#include "harness/trace/operation.h"

namespace weft::engine {

/// Points that a task spends without a change before it counts as spinning. A loop that reads a
/// flag so often and then ends is no livelock, and there is no telling it from one before; fifteen
/// tasks that spin come to their end within the default step cap.
inline constexpr std::uint64_t kLivelockPoints = 1 << 16;

/// One task's idleness.
struct Idleness {
  std::uint64_t epoch = 0;
  std::uint64_t points = 0;
};

class Progress {
 public:
  void clear() noexcept { epoch_ = 1; }

  /// Something changed that another task may see.
  void changed() noexcept { ++epoch_; }

  /// The task performs an operation that only looks, as far as one can know beforehand.
  void looked(Idleness& task) const noexcept {
    if (task.epoch != epoch_) task = {epoch_, 0};
    ++task.points;
  }

  /// Whether the task has only looked for a while: others go first, where there are any.
  [[nodiscard]] bool repeats(const Idleness& task) const noexcept {
    return task.epoch == epoch_ && task.points >= trace::kDefaultPatience;
  }
  [[nodiscard]] bool spins(const Idleness& task) const noexcept {
    return task.epoch == epoch_ && task.points >= kLivelockPoints;
  }

  /// Whether an operation of this kind may leave everything as it was. Those that
  /// did not report so by changed().
  [[nodiscard]] static bool may_only_look(trace::OpKind kind) noexcept;

 private:
  std::uint64_t epoch_ = 1;
};

inline bool Progress::may_only_look(trace::OpKind kind) noexcept {
  using trace::OpKind;
  // A list of exceptions: what is not here changes something, if only the time.
  return kind == OpKind::kYield || kind == OpKind::kFence || kind == OpKind::kMutexTryLock ||
         kind == OpKind::kReadTryLock || kind == OpKind::kWriteTryLock ||
         kind == OpKind::kSemTryWait || kind == OpKind::kSpinTryLock ||
         kind == OpKind::kFileTryLock || kind == OpKind::kCondSignal ||
         kind == OpKind::kCondBroadcast || kind == OpKind::kFutexWait ||
         kind == OpKind::kFutexWake ||
         (kind >= OpKind::kAtomicLoad && kind <= OpKind::kAtomicCompareExchange);
}

}  // namespace weft::engine
