// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// When a strategy has favoured the same tasks for so long that one of them is
// probably spinning for another, and must be overruled.
#pragma once

#include <algorithm>
#include <cstdint>

#include "harness/base/ids.h"

namespace weft::strategies {

/// Counts decisions, hence only points at which another task was enabled.
class Fairness {
 public:
  /// A loop that waits for another task through plain loads and nothing else
  /// costs this many points; 2,000 were harmless in the prototype's programs.
  static constexpr std::uint64_t kConsecutive = 2000;
  /// Two tasks that spin in turns never reach the bound above. 1/61 of the
  /// default step cap, so that any set of spinners is overruled before that.
  static constexpr std::uint64_t kAltogether = 16384;

  void begin_execution() noexcept { *this = Fairness{}; }

  /// The task that was picked last went on at so many points.
  void went_on(std::uint64_t points) noexcept {
    consecutive_ += points;
    altogether_ += points;
  }

  /// At so many points the task that was picked last may go on before anybody is overruled.
  [[nodiscard]] std::uint64_t leeway() const noexcept {
    return std::min(kConsecutive - std::min(consecutive_, kConsecutive),
                    kAltogether - std::min(altogether_, kAltogether));
  }

  /// `chosen` goes next.
  void picked(TaskIndex chosen) noexcept {
    consecutive_ = chosen == last_ ? consecutive_ + 1 : 1;
    last_ = chosen;
    ++altogether_;
  }

  /// True when the task at this point has had its share; counts afresh afterwards.
  bool overrule(TaskIndex at) noexcept {
    const bool spins = at == last_ && consecutive_ >= kConsecutive;
    if (!spins && altogether_ < kAltogether) return false;
    consecutive_ = 0;
    altogether_ = 0;
    return true;
  }

 private:
  TaskIndex last_ = kNoTaskIndex;
  std::uint64_t consecutive_ = 0;
  std::uint64_t altogether_ = 0;
};

}  // namespace weft::strategies
