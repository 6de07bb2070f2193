// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The choice log: every decision that departed from the stated default, in the
// order taken. It is an execution's exact replay and the body of its token.
//
// The default, from which only departures are logged:
//  1. schedule: an operation of the running task that commutes with all others is
//     performed at once; that is no decision. Otherwise
//     the running task goes on if its operation is enabled; otherwise
//     the enabled task next in cyclic creation order goes on, thread tasks before
//     step tasks. A task that yields, that passed kDefaultFairness points in a row
//     while others were enabled, or that has only looked for kDefaultPatience points
//     while nothing changed, counts as not enabled for that decision;
//  2. every other choice: candidate 0 in canonical order.
#pragma once

#include <cstdint>

#include "harness/base/ids.h"

namespace weft::trace {

/// Points in a row after which the default schedule leaves a task that spins.
inline constexpr std::uint64_t kDefaultFairness = 1000;

/// Points without a change by anybody after which it leaves a task that only looks: that loads,
/// yields, tries in vain.
inline constexpr std::uint64_t kDefaultPatience = 32;

/// Plain accesses in a row, with no other operation between, after which it leaves a task: one of
/// them in so many is a point, whatever the strategy asks for.
inline constexpr std::uint64_t kDefaultPlainPatience = 1 << 17;

/// Stored in tokens: append only.
enum class ChoiceKind : std::uint8_t {
  kSchedule,     // which task goes next; value is the chosen TaskId
  kWaiter,       // which waiter a signal or wake reaches; value is its TaskId
  kUser,         // weft::choose; value is the number chosen
  kDraw,         // a number from outside (random_device and the like)
  kPassOver,     // a race: 1 goes on, where the default is to stop with a finding
  kSpurious,     // whether a wait ends, or a weak compare-exchange fails, for no reason; 1: yes
  kOutOfMemory,  // whether an allocation fails; 1: yes
  kCount
};

/// Choices of something unlikely, which an execution is offered so often and takes so often as its
/// options say; not taken (0), it leaves no mark, so that a replay need not know what was offered.
[[nodiscard]] constexpr bool is_unlikely(ChoiceKind kind) noexcept {
  return kind == ChoiceKind::kSpurious || kind == ChoiceKind::kOutOfMemory;
}

/// One departure from the default. Keyed by (task, that task's operation index,
/// kind, how many choices of that kind this operation had already made).
struct Deviation {
  TaskId task;                  // who was at the point
  std::uint64_t operation = 0;  // its operation index, from 1; plain accesses count
  std::uint64_t value = 0;      // TaskId::value, or a number
  std::uint16_t nth = 0;        // choices already made by this operation
  ChoiceKind kind = ChoiceKind::kSchedule;
  std::uint16_t digest = 0;  // low bits of the history digest, so that a replay notices early;
  bool has_digest = true;    // few of a long log have one
  TaskIndex task_index = kNoTaskIndex;   // into the task table of the same execution
  TaskIndex value_index = kNoTaskIndex;  // likewise, where value is a task

  bool operator==(const Deviation&) const = default;
};

/// A task as tokens and traces name it: its parent and its ordinal among the
/// parent's children. Row 0 is the root; a parent always precedes its children.
struct TaskRow {
  TaskId id;
  TaskIndex parent = kNoTaskIndex;
  std::uint32_t ordinal = 0;

  bool operator==(const TaskRow&) const = default;
};

/// The ordinal, among the root's children, of the step task that lets virtual time pass: out of any
/// program's reach, so that it shifts no thread's ordinal.
inline constexpr std::uint32_t kTimerOrdinal = 0xffffffff;

/// True where a choice of this kind is a task, so that Deviation::value is a TaskId.
[[nodiscard]] constexpr bool chooses_task(ChoiceKind kind) noexcept {
  return kind == ChoiceKind::kSchedule || kind == ChoiceKind::kWaiter;
}

}  // namespace weft::trace
