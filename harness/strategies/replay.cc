// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/strategies/replay.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "harness/strategies/task_path.h"
#include "harness/trace/channel.h"

namespace weft::strategies {

using trace::ChoiceKind;

static_assert(kChoiceKinds <= 8, "a task's kinds are bits of a byte");

Replay::Replay(ReplayLog log, std::span<const trace::TaskRow> tasks, ReplayMode mode)
    : mode_(mode),
      log_(std::move(log)),
      tasks_(tasks.size()),
      cursors_(trace::kMaxTasks * kChoiceKinds),
      left_(trace::kMaxTasks),
      ids_(trace::kMaxTasks),
      came_(log_.task_count()) {
  std::copy(tasks.begin(), tasks.end(), tasks_.begin());
}

Replay::Replay(std::span<const trace::Deviation> log, std::span<const trace::TaskRow> tasks,
               ReplayMode mode)
    : Replay(ReplayLog(log), tasks, mode) {}

Replay::Replay(const trace::DeviationLog& log, std::span<const trace::TaskRow> tasks,
               ReplayMode mode)
    : Replay(ReplayLog(log, tasks), tasks, mode) {}

engine::Next Replay::next_execution(std::uint64_t, std::uint64_t) noexcept {
  std::fill(left_.begin(), left_.end(), std::uint8_t{0});
  std::fill(came_.begin(), came_.end(), false);
  created_ = 0;
  latest_step_ = 0;
  status_ = {};
  complaint_ = {};
  complains_ = false;
  return engine::Next::kGo;
}

void Replay::task_created(TaskIndex task, TaskId id, engine::TaskKind) noexcept {
  ids_[task] = id;
  left_[task] = 0;
  created_ = std::max<std::size_t>(created_, task + 1u);
  const std::uint32_t place = log_.find(id);
  if (place == ReplayLog::kNobody) return;
  came_[place] = true;
  for (std::size_t kind = 0; kind < kChoiceKinds; ++kind) {
    Cursor& first = cursors_[task * kChoiceKinds + kind];
    first = log_.begin(place, static_cast<ChoiceKind>(kind));
    if (!first.at_end) left_[task] |= static_cast<std::uint8_t>(1u << kind);
  }
}

void Replay::advance(TaskIndex task, ChoiceKind kind) noexcept {
  Cursor& entry = cursor(task, kind);
  entry.advance();
  if (entry.at_end) left_[task] &= static_cast<std::uint8_t>(~(1u << static_cast<unsigned>(kind)));
}

void Replay::apply(TaskIndex task, ChoiceKind kind) noexcept {
  ++status_.applied;
  advance(task, kind);
}

void Replay::pass(const Place& place) noexcept {
  for_each_left(place.at, [&](ChoiceKind kind, Cursor& entry) {
    while (!entry.at_end && entry.operation < place.at_operation) {
      cannot_apply(ids_[place.at], kind, entry, place, "there was nothing to choose there", {});
      advance(place.at, kind);
    }
  });
}

Replay::Cursor* Replay::find(const Place& place, ChoiceKind kind, std::uint16_t nth,
                             std::span<const engine::EnabledTask> candidates) noexcept {
  latest_step_ = place.step;
  if (place.at == kNoTaskIndex || status_.diverged || left_[place.at] == 0) return nullptr;
  pass(place);
  Cursor& entry = cursor(place.at, kind);
  if ((left_[place.at] >> static_cast<unsigned>(kind) & 1) == 0) return nullptr;
  // In a program that is not what it was, a choice of this operation may not have been asked for.
  while (mode_ == ReplayMode::kLenient && !entry.at_end && entry.operation == place.at_operation &&
         entry.nth < nth) {
    cannot_apply(ids_[place.at], kind, entry, place, "there was nothing to choose there", {});
    advance(place.at, kind);
  }
  if (entry.at_end || entry.operation != place.at_operation || entry.nth != nth) return nullptr;
  if (mode_ == ReplayMode::kLenient || !entry.has_digest ||
      entry.digest == static_cast<std::uint16_t>(place.digest)) {
    return &entry;
  }
  cannot_apply(ids_[place.at], kind, entry, place, "the steps before it were others", candidates);
  advance(place.at, kind);
  return nullptr;
}

std::size_t Replay::pick(const engine::Decision& decision) noexcept {
  const std::size_t chosen = follow(decision);
  at_ = decision.enabled[chosen].index;
  return chosen;
}

std::size_t Replay::follow(const engine::Decision& decision) noexcept {
  const Place place{decision.step, decision.at, decision.at_operation, decision.digest};
  const Cursor* entry = find(place, ChoiceKind::kSchedule, decision.nth, decision.enabled);
  if (entry == nullptr) return decision.fallback;
  const std::uint64_t wanted = log_.value(*entry, ChoiceKind::kSchedule);
  for (std::size_t i = 0; i < decision.enabled.size(); ++i) {
    if (decision.enabled[i].id.value != wanted) continue;
    apply(place.at, ChoiceKind::kSchedule);
    return i;
  }
  cannot_apply(ids_[place.at], ChoiceKind::kSchedule, *entry, place, "that task is not enabled",
               decision.enabled);
  advance(place.at, ChoiceKind::kSchedule);
  return decision.fallback;
}

engine::Leeway Replay::leeway() const noexcept {
  std::uint64_t next = trace::kNever;
  for (unsigned left = left_.data()[at_]; left != 0; left &= left - 1) {
    const auto kind = static_cast<unsigned>(std::countr_zero(left));
    next = std::min(next, cursors_.data()[at_ * kChoiceKinds + kind].operation);
  }
  return {next, trace::kNever};
}

std::uint64_t Replay::choose(const engine::Choice& choice) noexcept {
  const Place place{choice.step, choice.at, choice.at_operation, choice.digest};
  const Cursor* entry = find(place, choice.kind, choice.nth, choice.tasks);
  if (entry == nullptr) return 0;
  const std::uint64_t value = log_.value(*entry, choice.kind);
  const char* why = nullptr;
  std::uint64_t answer = value;
  if (choice.kind == ChoiceKind::kWaiter) {
    const auto waiter = std::find_if(
        choice.tasks.begin(), choice.tasks.end(),
        [&](const engine::EnabledTask& candidate) { return candidate.id.value == value; });
    answer = static_cast<std::uint64_t>(waiter - choice.tasks.begin());
    if (waiter == choice.tasks.end()) why = "that task does not wait there";
  } else if (choice.count != 0 && value >= choice.count) {
    why = "there are fewer candidates";
  }
  if (why == nullptr) {
    apply(place.at, choice.kind);
    return answer;
  }
  cannot_apply(ids_[place.at], choice.kind, *entry, place, why, choice.tasks);
  advance(place.at, choice.kind);
  return 0;
}

std::uint64_t Replay::until_next_choice(TaskIndex task, std::uint64_t operation_index) noexcept {
  if (!status_.diverged) pass({latest_step_, task, operation_index, 0});
  std::uint64_t next = trace::kNever;
  for_each_left(task, [&](ChoiceKind, const Cursor& entry) {
    // Those of the pending operation itself are still to come.
    Cursor ahead = entry;
    while (!ahead.at_end && ahead.operation <= operation_index) ahead.advance();
    if (!ahead.at_end) next = std::min(next, ahead.operation - operation_index);
  });
  return next;
}

void Replay::execution_ended(StepIndex steps) noexcept {
  const Place end{steps, kNoTaskIndex, 0, 0};
  constexpr const char* kWhy = "the execution ended without it";
  for (TaskIndex task = 0; task < created_ && !status_.diverged; ++task) {
    for_each_left(task, [&](ChoiceKind kind, Cursor& entry) {
      for (; !entry.at_end && !status_.diverged; entry.advance())
        cannot_apply(ids_[task], kind, entry, end, kWhy, {});
    });
  }
  for (std::uint32_t place = 0; place < log_.task_count(); ++place) {
    if (came_[place]) continue;
    for (std::size_t i = 0; i < kChoiceKinds; ++i) {
      const auto kind = static_cast<ChoiceKind>(i);
      for (Cursor entry = log_.begin(place, kind); !entry.at_end && !status_.diverged;
           entry.advance())
        cannot_apply(log_.task(place), kind, entry, end, kWhy, {});
    }
  }
}

const engine::Complaint* Replay::complaint() const noexcept {
  return status_.diverged ? &complaint_ : nullptr;
}

std::size_t Replay::save(unsigned char* buffer, std::size_t capacity) const noexcept {
  if (capacity < sizeof status_) return 0;
  std::memcpy(buffer, &status_, sizeof status_);
  return sizeof status_;
}

ReplayStatus read_replay_status(const unsigned char* bytes, std::size_t size) noexcept {
  static_assert(std::is_trivially_copyable_v<ReplayStatus>);
  ReplayStatus status;
  if (size == sizeof status) std::memcpy(&status, bytes, sizeof status);
  return status;
}

void Replay::append_path(TextBuffer& text, TaskId id) const noexcept {
  append_task_path(text, tasks_.span(), std::span<const TaskId>(ids_.span()).first(created_), id);
}

void Replay::cannot_apply(TaskId task, ChoiceKind kind, const Cursor& entry, const Place& place,
                          const char* why,
                          std::span<const engine::EnabledTask> candidates) noexcept {
  if (status_.diverged) return;
  const trace::Deviation expected = {.task = task,
                                     .operation = entry.operation,
                                     .value = log_.value(entry, kind),
                                     .nth = entry.nth,
                                     .kind = kind,
                                     .digest = entry.digest,
                                     .has_digest = entry.has_digest};
  if (status_.skipped == 0) {
    status_.step = place.step;
    status_.expected = expected;
    status_.at = place.at;
    status_.at_operation = place.at_operation;
    status_.digest = static_cast<std::uint16_t>(place.digest);
  }
  if (mode_ == ReplayMode::kLenient) {
    ++status_.skipped;
    return;
  }
  status_.diverged = true;
  complains_ = true;
  complaint_.kind = trace::FindingKind::kDivergence;
  complaint_.step = place.step;
  TextBuffer text(complaint_.message);
  text.append("step ").append_uint(place.step).append(": expected task ");
  append_path(text, expected.task);
  text.append(" at its operation ").append_uint(expected.operation);
  switch (expected.kind) {
    case ChoiceKind::kSchedule:
      append_path(text.append(" to be followed by task "), TaskId{expected.value});
      break;
    case ChoiceKind::kWaiter:
      append_path(text.append(" to wake task "), TaskId{expected.value});
      break;
    case ChoiceKind::kUser: text.append(" to choose ").append_uint(expected.value); break;
    case ChoiceKind::kDraw: text.append(" to draw ").append_uint(expected.value); break;
    case ChoiceKind::kPassOver: text.append(" to pass over a race"); break;
    case ChoiceKind::kSpurious: text.append(" to wake or to fail for no reason"); break;
    case ChoiceKind::kOutOfMemory: text.append(" to find no memory"); break;
    case ChoiceKind::kCount: break;
  }
  text.append(", but ").append(why);
  if (place.at != kNoTaskIndex) {
    append_path(text.append("; found task "), ids_[place.at]);
    text.append(" at its operation ").append_uint(place.at_operation);
  }
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    append_path(text.append(i == 0 ? ", with task " : ", "), candidates[i].id);
    text.append(" (").append(trace::name(candidates[i].operation->kind)).append(")");
    if (i + 1 == candidates.size()) text.append(" to choose from");
  }
}

}  // namespace weft::strategies
