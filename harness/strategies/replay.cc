// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/strategies/replay.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <type_traits>

#include "harness/strategies/task_path.h"
#include "harness/trace/channel.h"

namespace weft::strategies {
namespace {

using trace::ChoiceKind;
using trace::Deviation;

auto key(const Deviation& deviation) noexcept {
  return std::tuple(deviation.task, deviation.operation, deviation.kind, deviation.nth);
}

}  // namespace

Replay::Replay(std::span<const Deviation> log, std::span<const trace::TaskRow> tasks,
               ReplayMode mode)
    : mode_(mode),
      log_(log.size()),
      tasks_(tasks.size()),
      settled_(log.size()),
      cursors_(trace::kMaxTasks),
      ids_(trace::kMaxTasks) {
  std::copy(log.begin(), log.end(), log_.begin());
  std::copy(tasks.begin(), tasks.end(), tasks_.begin());
  std::sort(log_.begin(), log_.end(),
            [](const Deviation& a, const Deviation& b) { return key(a) < key(b); });
}

engine::Next Replay::next_execution(std::uint64_t, std::uint64_t) noexcept {
  std::fill(settled_.begin(), settled_.end(), false);
  std::fill(cursors_.begin(), cursors_.end(), Cursor{});
  created_ = 0;
  latest_step_ = 0;
  status_ = {};
  complaint_ = {};
  complains_ = false;
  return engine::Next::kGo;
}

void Replay::task_created(TaskIndex task, TaskId id, engine::TaskKind) noexcept {
  ids_[task] = id;
  created_ = std::max<std::size_t>(created_, task + 1u);
  const auto first = std::partition_point(log_.begin(), log_.end(),
                                          [&](const Deviation& d) { return d.task < id; });
  const auto last =
      std::partition_point(first, log_.end(), [&](const Deviation& d) { return d.task == id; });
  cursors_[task] = {static_cast<std::size_t>(first - log_.begin()),
                    static_cast<std::size_t>(last - log_.begin())};
}

void Replay::pass(const Place& place, Cursor& cursor) noexcept {
  for (; cursor.next < cursor.end && log_[cursor.next].operation < place.at_operation;
       ++cursor.next) {
    if (!settled_[cursor.next])
      cannot_apply(cursor.next, place, "there was nothing to choose there", {});
  }
}

std::size_t Replay::find(const Place& place, ChoiceKind kind, std::uint16_t nth,
                         std::span<const engine::EnabledTask> candidates) noexcept {
  latest_step_ = place.step;
  if (place.at == kNoTaskIndex || status_.diverged) return kNothing;
  Cursor& cursor = cursors_[place.at];
  pass(place, cursor);
  for (std::size_t i = cursor.next; i < cursor.end && log_[i].operation == place.at_operation;
       ++i) {
    if (log_[i].kind == kind && log_[i].nth == nth && !settled_[i])
      return matches_history(i, place, candidates) ? i : kNothing;
  }
  return kNothing;
}

bool Replay::matches_history(std::size_t entry, const Place& place,
                             std::span<const engine::EnabledTask> candidates) noexcept {
  if (mode_ == ReplayMode::kLenient ||
      log_[entry].digest == static_cast<std::uint16_t>(place.digest))
    return true;
  cannot_apply(entry, place, "the steps before it were others", candidates);
  return false;
}

std::size_t Replay::pick(const engine::Decision& decision) noexcept {
  const Place place{decision.step, decision.at, decision.at_operation, decision.digest};
  const std::size_t entry = find(place, ChoiceKind::kSchedule, decision.nth, decision.enabled);
  if (entry == kNothing) return decision.fallback;
  for (std::size_t i = 0; i < decision.enabled.size(); ++i) {
    if (decision.enabled[i].id.value != log_[entry].value) continue;
    settled_[entry] = true;
    ++status_.applied;
    return i;
  }
  cannot_apply(entry, place, "that task is not enabled", decision.enabled);
  return decision.fallback;
}

std::uint64_t Replay::choose(const engine::Choice& choice) noexcept {
  const Place place{choice.step, choice.at, choice.at_operation, choice.digest};
  const std::size_t entry = find(place, choice.kind, choice.nth, choice.tasks);
  if (entry == kNothing) return 0;
  const std::uint64_t value = log_[entry].value;
  if (choice.kind == ChoiceKind::kWaiter) {
    for (std::size_t i = 0; i < choice.tasks.size(); ++i) {
      if (choice.tasks[i].id.value != value) continue;
      settled_[entry] = true;
      ++status_.applied;
      return i;
    }
    cannot_apply(entry, place, "that task does not wait there", choice.tasks);
    return 0;
  }
  if (choice.count != 0 && value >= choice.count) {
    cannot_apply(entry, place, "there are fewer candidates", {});
    return 0;
  }
  settled_[entry] = true;
  ++status_.applied;
  return value;
}

std::uint64_t Replay::accesses_until_point(TaskIndex task, std::uint64_t operation_index) noexcept {
  Cursor& cursor = cursors_[task];
  if (!status_.diverged) pass({latest_step_, task, operation_index, 0}, cursor);
  // Those of the pending operation itself are still to come.
  std::size_t next = cursor.next;
  while (next < cursor.end && log_[next].operation <= operation_index) ++next;
  return next < cursor.end ? log_[next].operation - operation_index : trace::kNever;
}

void Replay::execution_ended(StepIndex steps) noexcept {
  const Place end{steps, kNoTaskIndex, 0, 0};
  for (std::size_t i = 0; i < log_.size() && !status_.diverged; ++i) {
    if (!settled_[i]) cannot_apply(i, end, "the execution ended without it", {});
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

void Replay::cannot_apply(std::size_t entry, const Place& place, const char* why,
                          std::span<const engine::EnabledTask> candidates) noexcept {
  settled_[entry] = true;
  if (status_.diverged) return;
  const Deviation& expected = log_[entry];
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
