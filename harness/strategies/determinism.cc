// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/strategies/determinism.h"

#include <utility>

namespace weft::strategies {

Determinism::Determinism(std::unique_ptr<engine::Strategy> inner)
    : inner_(std::move(inner)), records_(kMaxRecords), enabled_(kMaxEnabled) {}

engine::Next Determinism::next_execution(std::uint64_t execution, std::uint64_t seed) noexcept {
  recording_ = !recording_;
  position_ = 0;
  latest_step_ = 0;
  status_ = {};
  complaint_ = {};
  complains_ = false;
  if (!recording_) return engine::Next::kGo;
  record_count_ = 0;
  enabled_count_ = 0;
  overflowed_ = false;
  return inner_->next_execution(execution, seed);
}

Determinism::EnabledRecord Determinism::describe(const engine::EnabledTask& task) noexcept {
  return {.task = task.index,
          .kind = task.operation->kind,
          .width = task.operation->width,
          .operation_index = static_cast<std::uint32_t>(task.operation_index)};
}

void Determinism::record(Record record, std::span<const engine::EnabledTask> enabled) noexcept {
  overflowed_ |=
      record_count_ == records_.size() || enabled.size() > enabled_.size() - enabled_count_;
  if (overflowed_) return;
  record.enabled_first = enabled_count_;
  for (const engine::EnabledTask& task : enabled) enabled_[enabled_count_++] = describe(task);
  records_[record_count_++] = record;
}

const Determinism::Record* Determinism::compare(const Record& found,
                                                std::span<const engine::EnabledTask> enabled,
                                                StepIndex step) noexcept {
  if (status_.differs || (overflowed_ && position_ == record_count_)) return nullptr;
  if (position_ == record_count_) {
    complain(Record{}, found, enabled, step);
    return nullptr;
  }
  const Record& expected = records_[position_];
  bool same = expected.call == found.call && expected.kind == found.kind &&
              expected.width == found.width && expected.task == found.task &&
              expected.number == found.number && expected.id == found.id &&
              expected.enabled_count == found.enabled_count;
  for (std::size_t i = 0; same && i < enabled.size(); ++i) {
    same = enabled_[expected.enabled_first + i] == describe(enabled[i]);
  }
  if (!same) {
    complain(expected, found, enabled, step);
    return nullptr;
  }
  ++position_;
  return &expected;
}

std::size_t Determinism::pick(const engine::Decision& decision) noexcept {
  Record asked{.call = Call::kPick,
               .task = decision.at,
               .enabled_count = static_cast<std::uint32_t>(decision.enabled.size()),
               .number = decision.at_operation,
               .id = decision.current};
  latest_step_ = decision.step;
  if (recording_) {
    asked.answer = inner_->pick(decision);
    complains_ = inner_->complains();
    record(asked, decision.enabled);
    return asked.answer;
  }
  const Record* expected = compare(asked, decision.enabled, decision.step);
  return expected == nullptr ? decision.fallback : expected->answer;
}

std::uint64_t Determinism::choose(const engine::Choice& choice) noexcept {
  Record asked{.call = Call::kChoose,
               .kind = static_cast<std::uint8_t>(choice.kind),
               .task = choice.at,
               .enabled_count = static_cast<std::uint32_t>(choice.tasks.size()),
               .number = choice.at_operation,
               .id = choice.count};
  latest_step_ = choice.step;
  if (recording_) {
    asked.answer = inner_->choose(choice);
    complains_ = inner_->complains();
    record(asked, choice.tasks);
    return asked.answer;
  }
  const Record* expected = compare(asked, choice.tasks, choice.step);
  return expected == nullptr ? 0 : expected->answer;
}

void Determinism::task_created(TaskIndex task, TaskId id, engine::TaskKind kind) noexcept {
  const Record told{.call = Call::kCreated,
                    .kind = static_cast<std::uint8_t>(kind),
                    .task = task,
                    .id = id.value};
  if (recording_) {
    inner_->task_created(task, id, kind);
    record(told, {});
  } else {
    compare(told, {}, latest_step_);
  }
}

std::uint64_t Determinism::executed(TaskIndex task, const trace::Operation& operation,
                                    std::uint64_t operation_index, StepIndex step) noexcept {
  Record told{.call = Call::kExecuted,
              .kind = static_cast<std::uint8_t>(operation.kind),
              .width = operation.width,
              .task = task,
              .number = operation_index};
  latest_step_ = step;
  if (recording_) {
    told.answer = inner_->executed(task, operation, operation_index, step);
    record(told, {});
    return told.answer;
  }
  const Record* expected = compare(told, {}, step);
  return expected == nullptr ? trace::kNever : expected->answer;
}

void Determinism::execution_ended(StepIndex steps) noexcept {
  const Record told{.call = Call::kEnded, .number = steps};
  if (recording_) {
    inner_->execution_ended(steps);
    complains_ = inner_->complains();
    record(told, {});
  } else {
    compare(told, {}, steps);
  }
}

const engine::Complaint* Determinism::complaint() const noexcept {
  if (status_.differs) return &complaint_;
  return recording_ ? inner_->complaint() : nullptr;
}

std::size_t Determinism::save(unsigned char* buffer, std::size_t capacity) const noexcept {
  return inner_->save(buffer, capacity);
}

bool Determinism::load(const unsigned char* buffer, std::size_t size) noexcept {
  return inner_->load(buffer, size);
}

void Determinism::print(TextBuffer& text, const Record& record) noexcept {
  text.append("task ").append_uint(record.task);
  switch (record.call) {
    case Call::kPick:
      text.append(" at its operation ").append_uint(record.number);
      text.append(record.id == engine::Decision::kNone ? " (blocked)" : "").append(", enabled: ");
      break;
    case Call::kChoose:
      text.append(" at its operation ").append_uint(record.number);
      text.append(" chooses among ").append_uint(record.id).append(" ");
      break;
    case Call::kCreated: text.append(" is created with id ").append_hex(record.id); break;
    case Call::kExecuted:
      text.append(" performs ").append(trace::name(static_cast<trace::OpKind>(record.kind)));
      if (record.width != 0) text.append(" of ").append_uint(record.width).append(" bytes");
      break;
    case Call::kEnded:
      text.clear();
      text.append("the execution ends");
      break;
  }
}

void Determinism::print(TextBuffer& text, const EnabledRecord& enabled, bool first) noexcept {
  text.append(first ? "" : ", ")
      .append_uint(enabled.task)
      .append(" ")
      .append(trace::name(enabled.kind));
  if (enabled.width != 0) text.append(" of ").append_uint(enabled.width).append(" bytes");
  text.append(" (operation ").append_uint(enabled.operation_index).append(")");
}

void Determinism::complain(const Record& expected, const Record& found,
                           std::span<const engine::EnabledTask> enabled, StepIndex step) noexcept {
  status_.differs = true;
  status_.step = step;
  TextBuffer first(status_.first);
  print(first, expected);
  for (std::size_t i = 0; i < expected.enabled_count; ++i)
    print(first, enabled_[expected.enabled_first + i], i == 0);
  TextBuffer second(status_.second);
  print(second, found);
  for (std::size_t i = 0; i < enabled.size(); ++i) print(second, describe(enabled[i]), i == 0);

  complains_ = true;
  complaint_.kind = trace::FindingKind::kNondeterminism;
  complaint_.step = step;
  TextBuffer text(complaint_.message);
  text.append("two runs of one schedule differ at step ").append_uint(step);
  text.append("; first run: ").append(first.view()).append("; second run: ").append(second.view());
}

}  // namespace weft::strategies
