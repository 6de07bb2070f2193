// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The choice log as a worker keeps it, in the channel: two blocks of bytes (choice_code.h) that are
// filled in turn. A block that is full goes to the spill file; an execution that fits into one
// makes no system call.
//
// A worker may be killed between any two instructions and loses no deviation before the last:
//  1. One word, `state_`, says how many bytes there are and how many deviations as predicted follow
//     them. A deviation is there when that word is stored, not before.
//  2. The bytes before that position are whole blocks in the file, and then the beginning of the
//     block in memory whose turn it is. A block is in the file before the position passes its end.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "harness/trace/choice_code.h"
#include "harness/trace/spill.h"

namespace weft::trace {

class ChoiceLog {
 public:
  /// A random schedule of two tasks fills a block in 140,000 steps.
  static constexpr std::size_t kBlockBytes = std::size_t{64} << 10;

  // --- The supervisor's, while no worker runs.

  /// `block_bytes` a power of two between kMaxChoiceBytes and kBlockBytes, less than that for
  /// tests.
  void open(const SpillPlace& place, std::size_t block_bytes = kBlockBytes) noexcept {
    place_ = place;
    block_bits_ = static_cast<unsigned>(std::countr_zero(block_bytes));
    clear();
  }
  /// All that was logged, as ChoiceReader takes it. Believes nothing that the worker may have
  /// overwritten; what the file no longer has is missing, and so is all behind it.
  [[nodiscard]] std::string bytes() const;

  // --- The worker's.

  /// The next execution's; the tasks are added as they are created.
  void clear() noexcept {
    count_ = 0;
    prediction_.next = 0;
    state_.store(0, std::memory_order_relaxed);
  }
  void add_task(TaskIndex task) noexcept { prediction_.tasks[task] = {}; }

  /// False where neither memory nor disk takes it, or there are kMaxDeviations: it is not logged.
  [[nodiscard]] bool add(Deviation deviation) noexcept {
    if (count_ == kMaxDeviations) return false;
    const std::uint64_t state = state_.load(std::memory_order_relaxed);
    std::uint64_t position = state >> kRunBits;
    auto run = static_cast<std::uint32_t>(state & kRunMask);
    const std::uint64_t in_block = position & ((std::uint64_t{1} << block_bits_) - 1);
    unsigned char* const begin = blocks_[position >> block_bits_ & 1] + in_block;
    deviation.has_digest = carries_digest(count_);
    const unsigned char* const end = put_choice(begin, prediction_, run, deviation);
    const auto size = static_cast<std::size_t>(end - begin);
    if (in_block + size >= std::uint64_t{1} << block_bits_) [[unlikely]]
      if (!spill(position)) return false;
    position += size;
    // Release: a supervisor that polls a running worker may read up to here.
    state_.store(position << kRunBits | run, std::memory_order_release);
    ++count_;
    return true;
  }

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  static constexpr unsigned kRunBits = 24;
  static constexpr std::uint64_t kRunMask = (1u << kRunBits) - 1;
  static_assert(kMaxChoiceRun <= kRunMask);

  /// The block in which `position` lies is full, and a little more behind its end.
  [[nodiscard]] bool spill(std::uint64_t position) noexcept;

  std::atomic<std::uint64_t> state_{0};  // position, run
  std::uint64_t count_ = 0;
  SpillPlace place_;
  unsigned block_bits_ = std::countr_zero(kBlockBytes);
  ChoicePrediction prediction_;
  unsigned char blocks_[2][kBlockBytes + kMaxChoiceBytes] = {};
};

}  // namespace weft::trace
