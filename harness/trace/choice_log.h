// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The choice log as a worker keeps it, in the channel: the latest deviations as they are, and those
// before them as bytes (choice_code.h), which nearly no execution has. The bytes are in two blocks
// that are filled in turn. A block that is full goes to the spill file; an execution that fits into
// one makes no system call.
//
// A worker may be killed between any two instructions and loses no deviation before the last:
//  1. A deviation is there when `count_` is stored, not before.
//  2. Those that are bytes as well are told by the bytes. One word, `state_`, says how many bytes
//     there are and how many deviations as predicted follow them.
//  3. The bytes before that position are whole blocks in the file, and then the beginning of the
//     block in memory whose turn it is. A block is in the file before the position passes its end.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "harness/trace/choice.h"
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
  /// All that was logged, of `tasks`, as ChoiceReader takes it. Believes nothing that the worker
  /// may have overwritten; what the file no longer has is missing, and so is all behind it.
  [[nodiscard]] std::string bytes(std::span<const TaskRow> tasks) const;

  // --- The worker's.

  /// The next execution's.
  void clear() noexcept {
    count_.store(0, std::memory_order_relaxed);
    state_.store(0, std::memory_order_relaxed);
  }

  /// False where neither memory nor disk takes it, or there are kMaxDeviations: it is not logged.
  [[nodiscard]] bool add(const Deviation& deviation) noexcept {
    const std::uint64_t count = count_.load(std::memory_order_relaxed);
    if (count % kLatest == 0 && count != 0 && !encode_latest(count)) [[unlikely]]
      return false;
    latest_[count % kLatest] = deviation;
    // Release: a supervisor that polls a running worker may read up to here.
    count_.store(count + 1, std::memory_order_release);
    return true;
  }

  [[nodiscard]] std::uint64_t count() const noexcept {
    return count_.load(std::memory_order_relaxed);
  }

 private:
  /// Most executions make fewer, and are spared the encoding.
  static constexpr std::uint64_t kLatest = 64;
  static_assert(kMaxDeviations % kLatest == 0);

  static constexpr unsigned kRunBits = 24;
  static constexpr std::uint64_t kRunMask = (1u << kRunBits) - 1;
  static_assert(kMaxChoiceRun <= kRunMask);

  /// Makes bytes of `latest_`, which is full: of deviations up to number `count`.
  [[nodiscard]] bool encode_latest(std::uint64_t count) noexcept;
  [[nodiscard]] bool encode(const Deviation& deviation) noexcept;
  /// The block in which `position` lies is full, and a little more behind its end.
  [[nodiscard]] bool spill(std::uint64_t position) noexcept;
  [[nodiscard]] std::string encoded_bytes() const;

  std::atomic<std::uint64_t> state_{0};  // position, run
  std::atomic<std::uint64_t> count_{0};
  Deviation latest_[kLatest];
  SpillPlace place_;
  unsigned block_bits_ = std::countr_zero(kBlockBytes);
  ChoicePrediction prediction_;
  unsigned char blocks_[2][kBlockBytes + kMaxChoiceBytes] = {};
};

}  // namespace weft::trace
