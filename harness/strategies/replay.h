// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Follows a choice log: the default schedule, but for the recorded deviations.
//
// Strict: a deviation that cannot be applied, whose history digest differs, or
// whose operation passed without being asked about, is a divergence: the
// program or its surroundings are not what they were. Lenient: such a
// deviation is skipped and counted, for shrinking and for rebuilt programs.
//
// Source: replay from sparse deviations is ours (trace/choice.h); comparing what is
// enabled with what was is CHESS's (Musuvathi et al., OSDI 2008, section 4.2),
// done here by the digest at each deviation.
#pragma once

#include <span>

#include "harness/base/mapped_array.h"
#include "harness/base/text_buffer.h"
#include "harness/engine/strategy.h"
#include "harness/strategies/replay_log.h"

namespace weft::strategies {

enum class ReplayMode : std::uint8_t { kStrict, kLenient };

/// How far a replay came, and where it left the recorded path.
struct ReplayStatus {
  std::uint64_t applied = 0;
  std::uint64_t skipped = 0;  // lenient only
  bool diverged = false;      // strict only
  // Of the divergence, or of the first choice that was skipped:
  StepIndex step = 0;
  trace::Deviation expected;       // task, operation, kind and value of the recorded choice
  TaskIndex at = kNoTaskIndex;     // what was there: who was at the point, and
  std::uint64_t at_operation = 0;  // how far it had come
  std::uint16_t digest = 0;        // low bits of the history digest there
};

/// The log and the task table are copied. The order of its tasks among each other does not matter:
/// a deviation is found by (task id, operation index, kind, nth).
class Replay final : public engine::Strategy {
 public:
  Replay(std::span<const trace::Deviation> log, std::span<const trace::TaskRow> tasks,
         ReplayMode mode);
  Replay(const trace::DeviationLog& log, std::span<const trace::TaskRow> tasks, ReplayMode mode);

  [[nodiscard]] std::string_view name() const noexcept override { return "replay"; }
  engine::Next next_execution(std::uint64_t execution, std::uint64_t seed) noexcept override;
  std::size_t pick(const engine::Decision& decision) noexcept override;
  [[nodiscard]] engine::Leeway leeway() const noexcept override;
  std::uint64_t choose(const engine::Choice& choice) noexcept override;
  bool passes_over(const engine::Choice& choice) noexcept override { return choose(choice) != 0; }
  void task_created(TaskIndex task, TaskId id, engine::TaskKind kind) noexcept override;
  std::uint64_t executed(TaskIndex task, const trace::Operation&, std::uint64_t operation_index,
                         StepIndex step) noexcept override {
    latest_step_ = step;
    return left_.data()[task] == 0 ? trace::kNever : until_next_choice(task, operation_index);
  }
  void execution_ended(StepIndex steps) noexcept override;
  [[nodiscard]] const engine::Complaint* complaint() const noexcept override;

  /// A replay learns nothing; this is how its status reaches the supervisor.
  std::size_t save(unsigned char* buffer, std::size_t capacity) const noexcept override;

  [[nodiscard]] const ReplayStatus& status() const noexcept { return status_; }

 private:
  // Where the engine is when it asks.
  struct Place {
    StepIndex step;
    TaskIndex at;
    std::uint64_t at_operation;
    std::uint64_t digest;
  };
  using Cursor = ReplayLog::Cursor;
  [[nodiscard]] std::size_t follow(const engine::Decision& decision) noexcept;
  [[nodiscard]] std::uint64_t until_next_choice(TaskIndex task,
                                                std::uint64_t operation_index) noexcept;

  Replay(ReplayLog log, std::span<const trace::TaskRow> tasks, ReplayMode mode);
  [[nodiscard]] Cursor& cursor(TaskIndex task, trace::ChoiceKind kind) noexcept {
    return cursors_.data()[task * kChoiceKinds + static_cast<std::size_t>(kind)];
  }
  // Calls `visit(kind, cursor)` for each stream of the task with choices left.
  template <typename Visit>
  void for_each_left(TaskIndex task, Visit visit) noexcept {
    for (unsigned left = left_[task]; left != 0; left &= left - 1) {
      const auto kind = static_cast<trace::ChoiceKind>(__builtin_ctz(left));
      visit(kind, cursor(task, kind));
    }
  }

  // The recorded choice for this place, or null.
  Cursor* find(const Place& place, trace::ChoiceKind kind, std::uint16_t nth,
               std::span<const engine::EnabledTask> candidates) noexcept;
  void advance(TaskIndex task, trace::ChoiceKind kind) noexcept;
  void apply(TaskIndex task, trace::ChoiceKind kind) noexcept;
  // Gives up the deviations of earlier operations that have not been applied.
  void pass(const Place& place) noexcept;
  void append_path(TextBuffer& text, TaskId id) const noexcept;
  // The choice at `entry` is given up; the caller goes on to the next.
  void cannot_apply(TaskId task, trace::ChoiceKind kind, const Cursor& entry, const Place& place,
                    const char* why, std::span<const engine::EnabledTask> candidates) noexcept;

  const ReplayMode mode_;
  const ReplayLog log_;
  MappedArray<trace::TaskRow> tasks_;

  // Of the execution in progress.
  MappedArray<Cursor> cursors_;     // by task and kind
  MappedArray<std::uint8_t> left_;  // by task: the kinds that have choices left, a bit each
  MappedArray<TaskId> ids_;         // by task
  MappedArray<bool> came_;          // by task of log_: it was created
  std::size_t created_ = 0;         // of ids_
  TaskIndex at_ = 0;                // whom the latest decision picked
  StepIndex latest_step_ = 0;
  ReplayStatus status_;
  engine::Complaint complaint_;
};

/// Reads what save() wrote; an empty status for any other bytes.
[[nodiscard]] ReplayStatus read_replay_status(const unsigned char* bytes,
                                              std::size_t size) noexcept;

}  // namespace weft::strategies
