// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The choices that a replay is to make, in the order in which it comes to them: a stream for each
// task and kind, because each task advances at its own pace. One or two bytes a choice, so that
// those of ten million steps are nothing to worry about; read from front to back in constant time
// each.
//
// Made in the supervisor, read in the worker. Its memory is its own (base/mapping.h).
#pragma once

#include <cstdint>
#include <span>

#include "harness/base/mapped_array.h"
#include "harness/trace/choice.h"
#include "harness/trace/deviation_log.h"

namespace weft::strategies {

inline constexpr std::size_t kChoiceKinds = static_cast<std::size_t>(trace::ChoiceKind::kCount);

class ReplayLog {
 public:
  /// In any order: they are sorted.
  explicit ReplayLog(std::span<const trace::Deviation> log);
  ReplayLog(const trace::DeviationLog& log, std::span<const trace::TaskRow> tasks);

  /// A place in one stream: its next choice, if there is one.
  struct Cursor {
    const unsigned char* rest = nullptr;
    const unsigned char* end = nullptr;
    std::uint64_t operation = 0;
    std::uint64_t value = 0;  // a place in the table of tasks, or a number
    std::uint16_t nth = 0;
    std::uint16_t digest = 0;
    bool has_digest = false;
    bool at_end = true;

    void advance() noexcept;
  };

  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  /// The place in the table of tasks, or kNobody.
  [[nodiscard]] std::uint32_t find(TaskId task) const noexcept;
  [[nodiscard]] std::uint32_t task_count() const noexcept {
    return static_cast<std::uint32_t>(tasks_.size());
  }
  [[nodiscard]] TaskId task(std::uint64_t place) const noexcept { return tasks_[place]; }
  /// The first choice of a task.
  [[nodiscard]] Cursor begin(std::uint32_t task, trace::ChoiceKind kind) const noexcept;
  /// The chosen task's id, or the number.
  [[nodiscard]] std::uint64_t value(const Cursor& cursor, trace::ChoiceKind kind) const noexcept {
    return trace::chooses_task(kind) ? tasks_[cursor.value].value : cursor.value;
  }

 private:
  class Builder;
  void take(Builder& builder);

  struct Stream {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  MappedArray<unsigned char> bytes_;
  MappedArray<Stream> streams_;  // by task and kind
  MappedArray<TaskId> tasks_;    // in ascending order
};

}  // namespace weft::strategies
