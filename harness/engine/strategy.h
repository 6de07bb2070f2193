// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The small waist between the engine and whoever chooses.
//
// A strategy sees the enabled tasks, each with the operation it is about to
// perform, and answers with one of them. It never sees the model, the executor
// or the subject. PCT, POS, replay and the determinism check are all this big.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "harness/base/ids.h"
#include "harness/trace/choice.h"
#include "harness/trace/finding.h"
#include "harness/trace/operation.h"

namespace weft::engine {

enum class TaskKind : std::uint8_t { kThread, kStep };

/// One enabled task as a strategy sees it.
struct EnabledTask {
  TaskIndex index = kNoTaskIndex;  // dense, stable within the execution
  TaskKind kind = TaskKind::kThread;
  TaskId id;
  std::uint64_t operation_index = 0;
  const trace::Operation* operation = nullptr;  // pending
};

/// A scheduling decision. `enabled` has at least two entries, in task-creation order.
struct Decision {
  StepIndex step = 0;
  std::span<const EnabledTask> enabled;
  std::size_t current = kNone;     // position in `enabled` of the task at the point, or kNone
                                   // when that task is blocked or has ended
  std::size_t fallback = 0;        // position of the default (see trace/choice.h)
  TaskIndex at = kNoTaskIndex;     // the task whose point this is
  std::uint64_t at_operation = 0;  // and its operation index
  std::uint16_t nth = 0;           // scheduling decisions already taken at that operation
  std::uint64_t digest = 0;  // history digest before this step; a Deviation keeps its low bits
  std::uint64_t unasked =
      0;  // points since the latest question at which a task went on by its leeway
  static constexpr std::size_t kNone = ~std::size_t{0};
};

/// How far a task may go on before the strategy wants to be asked again.
struct Leeway {
  std::uint64_t before_operation = 0;  // asked at this operation index of the task, or a later one
  std::uint64_t points = 0;            // and after so many points
};

/// Any other choice: one of `count` candidates; for tasks, their identities.
struct Choice {
  trace::ChoiceKind kind = trace::ChoiceKind::kUser;
  TaskIndex at = kNoTaskIndex;
  std::uint64_t at_operation = 0;
  std::uint16_t nth = 0;
  StepIndex step = 0;
  std::uint64_t digest = 0;            // as in Decision
  std::uint64_t count = 0;             // >= 2; 0 means any 64-bit number (kDraw)
  std::span<const EnabledTask> tasks;  // kWaiter only: the candidates
};

/// What a strategy found wrong with the execution itself: a replay that no longer
/// matches, two runs of one schedule that differed.
struct Complaint {
  trace::FindingKind kind = trace::FindingKind::kNone;
  StepIndex step = 0;
  char message[512] = {};  // one line, NUL-terminated
};

enum class Next : std::uint8_t { kGo, kExhausted };

/// Thread-safety: none needed; called by the running task only. Implementations
/// must not allocate from malloc after construction and must not throw.
class Strategy {
 public:
  virtual ~Strategy() = default;

  [[nodiscard]] virtual std::string_view name() const noexcept = 0;

  /// Called before execution number `execution`; every random draw of that
  /// execution must derive from `seed` (already mixed with the number) and from
  /// what was learnt.
  virtual Next next_execution(std::uint64_t execution, std::uint64_t seed) noexcept = 0;

  /// Returns a position in `decision.enabled`.
  virtual std::size_t pick(const Decision& decision) noexcept = 0;

  /// Asked after each pick(): at how many further points of the task that was picked it would have
  /// that go on, as long as the same tasks are enabled. Neither pick() nor executed() is called at
  /// them.
  [[nodiscard]] virtual Leeway leeway() const noexcept { return {}; }

  /// `task` made use of its leeway at `points` points up to its `operation_index`-th operation, and
  /// what follows is a step without a decision. Where a decision follows, that tells so itself.
  virtual void went_on(TaskIndex task, std::uint64_t operation_index,
                       std::uint64_t points) noexcept {
    (void)task, (void)operation_index, (void)points;
  }

  /// Returns a number below `choice.count`, or any number where count is 0.
  virtual std::uint64_t choose(const Choice& choice) noexcept = 0;

  /// Whether an execution goes on past a race that it has just shown. Only a replay
  /// knows: in any other execution what is new is a finding.
  virtual bool passes_over(const Choice& choice) noexcept {
    (void)choice;
    return false;
  }

  /// A task came to be (the root and the timer included), before its first pick.
  virtual void task_created(TaskIndex task, TaskId id, TaskKind kind) noexcept {
    (void)task, (void)id, (void)kind;
  }

  /// `task` performs `operation`, its `operation_index`-th, at `step`, and runs on from there. Also
  /// called for forced steps, where only one task was enabled and pick() was not asked.
  ///
  /// Returns how many of the task's plain accesses pass, while it keeps running, until one becomes
  /// a schedule point: 1 means the very next one, kNever none. The latest answer for the task
  /// counts. A considered access whose task goes on leaves no mark in the history digest or in what
  /// the default depends on, for a replay does not consider it. A step task has no plain accesses.
  virtual std::uint64_t executed(TaskIndex task, const trace::Operation& operation,
                                 std::uint64_t operation_index, StepIndex step) noexcept {
    (void)task, (void)operation, (void)operation_index, (void)step;
    return trace::kNever;
  }

  /// The execution ended (finished or not) after `steps` steps.
  virtual void execution_ended(StepIndex steps) noexcept { (void)steps; }

  /// Polled after pick(), choose() and execution_ended(): whether something is wrong with this
  /// execution, which then ends with a finding of the complaint's kind.
  [[nodiscard]] bool complains() const noexcept { return complains_; }
  /// Null while it does not complain.
  [[nodiscard]] virtual const Complaint* complaint() const noexcept { return nullptr; }

  /// What was learnt, as bytes, so that it survives the worker. save() returns
  /// the size used (at most `capacity`); load() returns false for bytes it does not know.
  virtual std::size_t save(unsigned char* buffer, std::size_t capacity) const noexcept {
    (void)buffer, (void)capacity;
    return 0;
  }
  virtual bool load(const unsigned char* buffer, std::size_t size) noexcept {
    (void)buffer;
    return size == 0;
  }

 protected:
  bool complains_ = false;
};

}  // namespace weft::engine
