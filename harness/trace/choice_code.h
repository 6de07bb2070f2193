// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How deviations become bytes: in the channel while the execution runs, in its spill file, and in a
// token of version 2 (docs/replay-token.md has the layout). One byte is the usual size of one.
//
// Each is predicted from those before it: the task is the one that the last deviation chose, and
// everything else is as in that task's own last one, the distance in operations included. What is
// as predicted is only counted, so that tasks which take turns, however many, cost nothing
// (run-length coding whose pattern need not be contiguous); otherwise what differs is written.
//
// The writer allocates nothing and makes no calls: it runs at a decision, in the worker.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/trace/choice.h"

namespace weft::trace {

inline constexpr std::size_t kMaxTasks = 1024;
/// So many that 100 million steps of a random schedule fit. A reader expands no more.
inline constexpr std::uint64_t kMaxDeviations = std::uint64_t{1} << 26;

/// Which deviations carry a digest: a short log's all, so that a replay stops where it left the
/// path; of a longer one's 1 in 256, which costs 0.01 byte each instead of 2.
inline constexpr std::uint64_t kAlwaysDigested = 1024;
inline constexpr std::uint64_t kDigestInterval = 256;
[[nodiscard]] constexpr bool carries_digest(std::uint64_t position) noexcept {
  return position < kAlwaysDigested || position % kDigestInterval == 0;
}

/// The first byte's low bits: whether a digest follows, and which of these forms it is.
enum class ChoiceForm : std::uint8_t {
  kRun,    // rest: number of deviations as predicted, less one
  kLater,  // as predicted but for the distance; rest: the distance
  kOther,  // likewise, and another value, which follows
  kFull,   // rest: kind, whether an ordinal follows, task; distance, ordinal and value follow
};
inline constexpr unsigned kChoiceHeadBits = 3;
inline constexpr std::uint64_t kChoiceHasDigest = 1;
/// Larger distances are written in full: they do not fit beside the head's low bits.
inline constexpr std::uint64_t kMaxShortDistance = std::uint64_t{1} << 60;
/// Of the rest in full.
inline constexpr unsigned kChoiceKindBits = 3;
inline constexpr std::uint64_t kChoiceHasNth = 1u << kChoiceKindBits;
static_assert(static_cast<std::uint64_t>(ChoiceKind::kCount) < kChoiceHasNth);

/// A run (4), head (10), distance (10), ordinal (3), value (10), digest (2).
inline constexpr std::size_t kMaxChoiceBytes = 48;
/// A longer run is written in pieces.
inline constexpr std::uint32_t kMaxChoiceRun = 1u << 20;

/// What the next deviation is predicted from. Zero bytes are a valid beginning.
struct ChoicePrediction {
  struct Task {
    std::uint64_t operation = 0;
    std::uint64_t distance = 0;  // from its deviation before
    std::uint64_t value = 0;     // row of the chosen task, or a number
    ChoiceKind kind = ChoiceKind::kSchedule;
  };
  Task tasks[kMaxTasks];
  TaskIndex next = 0;

  [[nodiscard]] static std::uint64_t value_of(const Deviation& deviation) noexcept {
    return chooses_task(deviation.kind) ? deviation.value_index : deviation.value;
  }
  void learn(const Deviation& deviation, std::uint64_t distance) noexcept {
    tasks[deviation.task_index] = {deviation.operation, distance, value_of(deviation),
                                   deviation.kind};
    next = deviation.kind == ChoiceKind::kSchedule ? deviation.value_index : deviation.task_index;
  }
};

namespace detail {
inline unsigned char* put_varint(unsigned char* out, std::uint64_t value) noexcept {
  while (value >= 0x80) {
    *out++ = static_cast<unsigned char>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<unsigned char>(value);
  return out;
}
}  // namespace detail

/// The bytes that stand for `run` deviations as predicted.
inline unsigned char* put_choice_run(unsigned char* out, std::uint32_t run,
                                     bool has_digest = false) noexcept {
  constexpr auto kForm = static_cast<std::uint64_t>(ChoiceForm::kRun);
  return detail::put_varint(out, std::uint64_t{run - 1} << kChoiceHeadBits | kForm << 1 |
                                     (has_digest ? kChoiceHasDigest : 0));
}

/// Adds one deviation; `run` are those as predicted that are not written yet. Writes at most
/// kMaxChoiceBytes to `out` and returns their end. Indices must be below kMaxTasks.
inline unsigned char* put_choice(unsigned char* out, ChoicePrediction& prediction,
                                 std::uint32_t& run, const Deviation& deviation) noexcept {
  const ChoicePrediction::Task& last = prediction.tasks[deviation.task_index];
  const std::uint64_t value = ChoicePrediction::value_of(deviation);
  const std::uint64_t distance = deviation.operation - last.operation;
  const bool alike = deviation.task_index == prediction.next && deviation.kind == last.kind &&
                     deviation.nth == 0 && distance < kMaxShortDistance;
  const bool same_value = value == last.value;
  if (alike && same_value && distance == last.distance) {
    ++run;
    if (deviation.has_digest || run == kMaxChoiceRun) {
      out = put_choice_run(out, run, deviation.has_digest);
      run = 0;
    }
  } else {
    if (run != 0) out = put_choice_run(out, run);
    run = 0;
    const ChoiceForm form = !alike       ? ChoiceForm::kFull
                            : same_value ? ChoiceForm::kLater
                                         : ChoiceForm::kOther;
    const std::uint64_t rest = alike ? distance
                                     : static_cast<std::uint64_t>(deviation.kind) |
                                           (deviation.nth != 0 ? kChoiceHasNth : 0) |
                                           std::uint64_t{deviation.task_index}
                                               << (kChoiceKindBits + 1);
    out = detail::put_varint(out, rest << kChoiceHeadBits | static_cast<std::uint64_t>(form) << 1 |
                                      (deviation.has_digest ? kChoiceHasDigest : 0));
    if (!alike) {
      out = detail::put_varint(out, distance);
      if (deviation.nth != 0) out = detail::put_varint(out, deviation.nth);
    }
    if (form != ChoiceForm::kLater) out = detail::put_varint(out, value);
  }
  if (deviation.has_digest) {
    *out++ = static_cast<unsigned char>(deviation.digest);
    *out++ = static_cast<unsigned char>(deviation.digest >> 8);
  }
  prediction.learn(deviation, distance);
  return out;
}

}  // namespace weft::trace
