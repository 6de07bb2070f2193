// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Which plain accesses become schedule points: the next one after a random gap.
//
// All of them would be 1.5 to 4 times as slow per access and, under strategies
// that switch often, would rarely let a task get far ahead; none of them would
// miss lost updates. Executions therefore differ in their gap.
#pragma once

#include <bit>
#include <cstdint>

#include "harness/base/prng.h"

namespace weft::strategies {

/// Counts in contested operations of the whole execution (see Progress), so that a
/// switch between tasks neither restarts nor loses a gap.
class PlainPoints {
 public:
  /// Gaps average about 2^gap_log2, 2^kWidest at most; 0 considers every access.
  void begin_execution(unsigned gap_log2, std::uint64_t seed) noexcept {
    random_ = SplitMix64(seed);
    gap_log2_ = gap_log2 < kWidest ? gap_log2 : kWidest;
    considered_ = 0;
    next_ = gap();
  }

  /// How many operations after the `total`-th until the next considered one, at least 1.
  std::uint64_t until_next(std::uint64_t total) noexcept {
    if (total >= next_) {
      // Widening keeps the points of an execution of N accesses near
      // kPointsPerGap * log2(N), below the step cap whatever the program does.
      if (++considered_ % kPointsPerGap == 0 && gap_log2_ < kWidest) ++gap_log2_;
      next_ = total + gap();
    }
    return next_ - total;
  }

 private:
  static constexpr std::uint64_t kPointsPerGap = 8192;
  // A task that spins on plain accesses is left at one of these points or never: a gap must pass in
  // well under a millisecond, however long the program has proved to be.
  static constexpr unsigned kWidest = 12;

  // A staircase under the geometric distribution: uniform within a stair of
  // 2^(gap_log2 - 1), each stair half as likely as the one before. Integers only,
  // for the last bit of log() differs between processors.
  std::uint64_t gap() noexcept {
    if (gap_log2_ == 0) return 1;
    const std::uint64_t word = random_.next();
    const unsigned stair = gap_log2_ - 1;
    const auto stairs =
        static_cast<std::uint64_t>(std::countr_zero(word | (std::uint64_t{1} << 16)));
    return 1 + (stairs << stair) + (random_.next() & ((std::uint64_t{1} << stair) - 1));
  }

  SplitMix64 random_{0};  // needs no seeding, which most executions are too short to make up for
  unsigned gap_log2_ = 0;
  std::uint64_t considered_ = 0;
  std::uint64_t next_ = 1;
};

}  // namespace weft::strategies
