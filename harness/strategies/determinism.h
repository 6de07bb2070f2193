// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs every schedule twice and compares: is the program's behaviour a function
// of the choices, as replay needs?
//
// Executions come in pairs. In the first the inner strategy chooses, and all that the
// engine tells or asks is recorded: who is enabled with which pending
// operation, what was chosen, which steps followed. The second is answered from
// the record; the first question that differs is a complaint of kind kNondeterminism.
//
// Source: the uncontrolled-nondeterminism check of Shuttle (awslabs/shuttle,
// scheduler/uncontrolled_nondeterminism.rs), which compares the number of
// runnable tasks and whether the current one is among them.
// Deviations:
//  1. Whole enabled sets with kind, width and operation index are compared, and
//     forced steps too, where nobody chooses. Addresses and sites are not: they
//     may differ without consequence.
//  2. The record is bounded; a pair that outgrows it is compared up to there.
//     What follows gets default answers, so the second run may differ unnoticed.
#pragma once

#include <memory>

#include "harness/base/mapped_array.h"
#include "harness/base/text_buffer.h"
#include "harness/engine/strategy.h"

namespace weft::strategies {

/// What the pair in progress, or the latest one, came to.
struct DeterminismStatus {
  bool differs = false;
  StepIndex step = 0;    // of the second run
  char first[192] = {};  // the two descriptions of that step
  char second[192] = {};
};

class Determinism final : public engine::Strategy {
 public:
  /// Questions and steps compared per execution.
  static constexpr std::size_t kMaxRecords = std::size_t{1} << 22;
  static constexpr std::size_t kMaxEnabled = std::size_t{1} << 24;

  explicit Determinism(std::unique_ptr<engine::Strategy> inner);

  [[nodiscard]] std::string_view name() const noexcept override { return "determinism"; }
  engine::Next next_execution(std::uint64_t execution, std::uint64_t seed) noexcept override;
  std::size_t pick(const engine::Decision& decision) noexcept override;
  std::uint64_t choose(const engine::Choice& choice) noexcept override;
  void task_created(TaskIndex task, TaskId id, engine::TaskKind kind) noexcept override;
  std::uint64_t executed(TaskIndex task, const trace::Operation& operation,
                         std::uint64_t operation_index, StepIndex step) noexcept override;
  void execution_ended(StepIndex steps) noexcept override;
  [[nodiscard]] const engine::Complaint* complaint() const noexcept override;
  std::size_t save(unsigned char* buffer, std::size_t capacity) const noexcept override;
  bool load(const unsigned char* buffer, std::size_t size) noexcept override;

  [[nodiscard]] const DeterminismStatus& status() const noexcept { return status_; }

 private:
  enum class Call : std::uint8_t { kPick, kChoose, kCreated, kExecuted, kEnded };

  // One call of the engine, and our answer.
  struct Record {
    Call call = Call::kEnded;
    std::uint8_t kind = 0;  // OpKind, ChoiceKind or TaskKind
    std::uint8_t width = 0;
    TaskIndex task = kNoTaskIndex;
    std::uint32_t enabled_count = 0;
    std::uint64_t number = 0;  // operation index, or candidates
    std::uint64_t id = 0;
    std::size_t enabled_first = 0;  // in enabled_
    std::uint64_t answer = 0;
  };
  struct EnabledRecord {
    TaskIndex task;
    trace::OpKind kind;
    std::uint8_t width;
    std::uint32_t operation_index;  // low bits
    bool operator==(const EnabledRecord&) const = default;
  };

  static EnabledRecord describe(const engine::EnabledTask& task) noexcept;
  void record(Record record, std::span<const engine::EnabledTask> enabled) noexcept;
  // The recorded answer if the second run asks what the first asked, null otherwise.
  const Record* compare(const Record& found, std::span<const engine::EnabledTask> enabled,
                        StepIndex step) noexcept;
  void complain(const Record& expected, const Record& found,
                std::span<const engine::EnabledTask> enabled, StepIndex step) noexcept;
  static void print(TextBuffer& text, const Record& record) noexcept;
  static void print(TextBuffer& text, const EnabledRecord& enabled, bool first) noexcept;

  const std::unique_ptr<engine::Strategy> inner_;
  MappedArray<Record> records_;
  MappedArray<EnabledRecord> enabled_;
  std::size_t record_count_ = 0;
  std::size_t enabled_count_ = 0;
  bool recording_ = false;    // the first run of a pair is in progress, or just ended
  bool overflowed_ = false;   // the record is full
  std::size_t position_ = 0;  // second run: the next record
  StepIndex latest_step_ = 0;
  DeterminismStatus status_;
  engine::Complaint complaint_;
};

}  // namespace weft::strategies
