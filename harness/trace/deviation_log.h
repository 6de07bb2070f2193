// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Many deviations in little memory: as the bytes of choice_code.h, about one byte each where a
// Deviation takes 40. Read from front to back. Supervisor side.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/trace/bytes.h"
#include "harness/trace/choice_code.h"
#include "harness/trace/outcome.h"

namespace weft::trace {

/// Reads the bytes of anybody: deviations one by one, until they end or one is wrong.
class ChoiceReader {
 public:
  /// `bytes` and `tasks` must outlive the reader. Deviations name rows of `tasks`.
  ChoiceReader(std::string_view bytes, std::span<const TaskRow> tasks)
      : in_(bytes), tasks_(tasks), last_(tasks.size()) {}

  /// False at the end, or where it is wrong.
  bool next(Deviation& deviation);
  /// What is wrong with the deviation after the last one read, or null.
  [[nodiscard]] const char* error() const noexcept { return error_; }
  /// How many were read.
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }

 private:
  bool fail(const char* why) noexcept {
    error_ = why;
    return false;
  }
  bool read_item(Deviation& deviation, std::uint64_t& distance);

  ByteReader in_;
  std::span<const TaskRow> tasks_;
  std::vector<ChoicePrediction::Task> last_;  // as ChoicePrediction::tasks
  TaskIndex next_ = 0;
  std::uint64_t run_ = 0;  // of the run in progress, still to come
  bool run_has_digest_ = false;
  std::uint64_t position_ = 0;
  const char* error_ = nullptr;
};

/// Deviations in the order in which they were made. Of the tasks it knows the rows alone.
class DeviationLog {
 public:
  /// Its task_index and value_index say who, its ids are not kept. The operations of one task must
  /// not descend: nothing else is read back.
  void push_back(const Deviation& deviation);

  [[nodiscard]] std::uint64_t size() const noexcept { return count_; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  /// The bytes, one text for equal logs.
  [[nodiscard]] std::string bytes() const;
  /// All of them, with the ids of `tasks`. For tests and for those who edit short logs.
  [[nodiscard]] std::vector<Deviation> expanded(std::span<const TaskRow> tasks) const;
  /// Calls `visit` for each, with the ids of `tasks`.
  template <typename Visit>
  void for_each(std::span<const TaskRow> tasks, Visit visit) const {
    const std::string all = bytes();
    ChoiceReader in(all, tasks);
    for (Deviation deviation; in.next(deviation);) visit(std::as_const(deviation));
  }

  bool operator==(const DeviationLog& other) const { return bytes() == other.bytes(); }

 private:
  std::string written_;
  std::uint32_t run_ = 0;
  std::uint64_t count_ = 0;
  std::vector<ChoicePrediction> prediction_;  // one, made when it is needed: it is of 32 KiB
};

}  // namespace weft::trace
