// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Cycles among tasks that wait for each other.
#pragma once

#include <cstddef>
#include <span>

#include "harness/base/ids.h"

namespace weft::detect {

/// `waits_for[t]` is the task that t waits for, or kNoTaskIndex. Follows the
/// chain from `start`; if it leads back to `start`, writes the cycle's members in
/// waiting order to `cycle` and returns their number, otherwise 0.
/// `cycle` must hold as many tasks as there are.
inline std::size_t find_cycle(TaskIndex start, std::span<const TaskIndex> waits_for,
                              std::span<TaskIndex> cycle) noexcept {
  std::size_t length = 0;
  TaskIndex at = start;
  while (length < waits_for.size()) {
    cycle[length++] = at;
    at = waits_for[at];
    if (at == kNoTaskIndex) return 0;
    if (at == start) return length;
  }
  return 0;  // the chain runs into a cycle that `start` is not part of
}

}  // namespace weft::detect
