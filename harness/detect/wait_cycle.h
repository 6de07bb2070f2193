// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Cycles among tasks that wait for each other.
#pragma once

#include <cstddef>
#include <span>

#include "harness/base/ids.h"

namespace weft::detect {

/// A shortest cycle from `start` back to it, in waiting order: its members go to the front of
/// `members`, their number is returned, 0 where there is none. `for_each_awaited(task, visit)`
/// calls visit(other) for every task that `task` waits for; it goes on only after all of them, so
/// that one cycle is enough to stop it for good.
/// `members` and `reached_from` hold as many tasks as there are.
template <typename ForEachAwaited>
std::size_t find_cycle(TaskIndex start, ForEachAwaited for_each_awaited,
                       std::span<TaskIndex> members, std::span<TaskIndex> reached_from) noexcept {
  for (TaskIndex& from : reached_from) from = kNoTaskIndex;
  std::size_t reached = 0;  // breadth first: `members` is the queue
  members[reached++] = start;
  for (std::size_t next = 0; next < reached; ++next) {
    const TaskIndex at = members[next];
    for_each_awaited(at, [&](TaskIndex other) {
      if (reached_from[other] != kNoTaskIndex) return;
      reached_from[other] = at;
      if (other != start) members[reached++] = other;
    });
    if (reached_from[start] != kNoTaskIndex) break;
  }
  if (reached_from[start] == kNoTaskIndex) return 0;
  std::size_t length = 0;
  for (TaskIndex at = reached_from[start]; at != start; at = reached_from[at]) ++length;
  std::size_t position = length;
  for (TaskIndex at = reached_from[start]; at != start; at = reached_from[at])
    members[position--] = at;
  members[0] = start;
  return length + 1;
}

}  // namespace weft::detect
