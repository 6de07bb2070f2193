// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/detect/wait_cycle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace weft::detect {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// `awaited[t]` are the tasks that t waits for.
std::vector<TaskIndex> cycle_from(TaskIndex start,
                                  const std::vector<std::vector<TaskIndex>>& awaited) {
  std::vector<TaskIndex> members(awaited.size());
  std::vector<TaskIndex> reached_from(awaited.size());
  const auto for_each = [&](TaskIndex task, auto visit) {
    for (const TaskIndex other : awaited[task]) visit(other);
  };
  members.resize(find_cycle(start, for_each, members, reached_from));
  return members;
}

TEST(WaitCycle, IsToldInWaitingOrder) {
  EXPECT_THAT(cycle_from(0, {{2}, {0}, {1}}), ElementsAre(0, 2, 1));
  EXPECT_THAT(cycle_from(1, {{2}, {0}, {1}}), ElementsAre(1, 0, 2));
}

TEST(WaitCycle, MayBeOneTaskAlone) { EXPECT_THAT(cycle_from(1, {{}, {1}}), ElementsAre(1)); }

TEST(WaitCycle, GoesThroughAnyOfSeveralAwaited) {
  // 0 waits for the readers 1, 2 and 3, of which 3 waits for it.
  EXPECT_THAT(cycle_from(0, {{1, 2, 3}, {}, {1}, {0}}), ElementsAre(0, 3));
}

TEST(WaitCycle, IsTheShortest) {
  EXPECT_THAT(cycle_from(0, {{1, 2}, {3}, {0}, {0}}), ElementsAre(0, 2));
}

TEST(WaitCycle, IsNoneWhereTheChainEndsOrOthersTurn) {
  EXPECT_THAT(cycle_from(0, {{1}, {2}, {}}), IsEmpty());
  EXPECT_THAT(cycle_from(0, {{1}, {2}, {1}}), IsEmpty());
}

}  // namespace
}  // namespace weft::detect
