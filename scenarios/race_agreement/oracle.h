// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A third opinion, as plain as can be: C++20's data races in a given order of
// operations, and what is known of how ThreadSanitizer departs from C++20. It
// explains differences by reproducing them.
#pragma once

#include <optional>

#include "scenarios/race_agreement/schedule.h"

namespace race_agreement {

/// Where ThreadSanitizer's run-time library (compiler-rt/lib/tsan/rtl) is known not to follow
/// [intro.races]; all false is C++20.
struct Departures {
  /// tsan_interface_atomic.cpp, OpFence: a fence orders nothing.
  bool no_fences = false;
  /// The same, OpStore: a relaxed store leaves the location's clock alone, so that the release
  /// sequence of C++11, or of a store before it, goes on.
  bool relaxed_store_goes_on = false;
  /// The same, AtomicRMW and OpCAS: the access is checked before it acquires.
  bool checked_before_acquire = false;
  /// shadow cells: four accesses of eight bytes are remembered; the fifth takes a random one's
  /// place.
  bool forgets = false;
};

/// The first position that races with an earlier one. With `forgets`, an earlier access that four
/// others of its word followed counts as forgotten.
[[nodiscard]] std::optional<std::size_t> first_race(const Program& program,
                                                    const std::vector<Executed>& order,
                                                    const Departures& departures);

}  // namespace race_agreement
