// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: the three fixed schedules are what they claim to be and find the plainest
// bugs at once; the later ones vary and stay fair.
// Method: step lists and first-bug numbers on simulated programs.
#include "harness/strategies/round_robin.h"

#include <gtest/gtest.h>

#include <set>

#include "harness/strategies/test_programs.h"

namespace weft::strategies {
namespace {

using namespace testing;  // NOLINT: the simulator's vocabulary

TEST(RoundRobinTest, LockstepFindsThePlainestBugsInTheFirstExecution) {
  const std::pair<const char*, Program> programs[] = {{"lost update", lost_update()},
                                                      {"lost plain update", lost_plain_update()},
                                                      {"AB-BA", abba()},
                                                      {"double initialisation", double_init()}};
  for (const auto& [name, program] : programs) {
    RoundRobin round_robin;
    EXPECT_EQ(first_bug(round_robin, program, 1, 10), 1u) << name;
  }
}

TEST(RoundRobinTest, NewestFirstLosesTheWakeUp) {
  RoundRobin round_robin;
  EXPECT_EQ(first_bug(round_robin, lost_wakeup(), 1, 10), 2u);
}

TEST(RoundRobinTest, StrictInvolvesTheSpawner) {
  RoundRobin round_robin;
  EXPECT_EQ(first_bug(round_robin, root_and_child, 1, 10), 3u);
}

TEST(RoundRobinTest, LockstepAlternatesOnceTheSpawnerHasBlocked) {
  RoundRobin round_robin;
  const History run = execute(round_robin, lost_update(), 1, 1);
  const std::vector<std::pair<TaskIndex, OpKind>> expected = {
      {0, OpKind::kTaskBegin},   {0, OpKind::kSpawn},       {0, OpKind::kSpawn},
      {2, OpKind::kTaskBegin},   {3, OpKind::kTaskBegin},   {2, OpKind::kAtomicLoad},
      {3, OpKind::kAtomicLoad},  {2, OpKind::kAtomicStore}, {2, OpKind::kTaskEnd},
      {3, OpKind::kAtomicStore}, {3, OpKind::kTaskEnd},     {0, OpKind::kJoin},
      {0, OpKind::kJoin}};
  EXPECT_EQ(run.steps, expected);
}

TEST(RoundRobinTest, FixedSchedulesIgnoreTheSeed) {
  for (std::uint64_t execution = 1; execution <= RoundRobin::kFixedSchedules; ++execution) {
    RoundRobin one;
    RoundRobin other;
    EXPECT_EQ(execute(one, lost_wakeup(), execution, 1).steps,
              execute(other, lost_wakeup(), execution, 2).steps);
  }
}

TEST(RoundRobinTest, LaterExecutionsVary) {
  RoundRobin round_robin;
  std::set<std::vector<std::pair<TaskIndex, OpKind>>> distinct;
  for (std::uint64_t i = 4; i < 104; ++i)
    distinct.insert(execute(round_robin, lost_wakeup(), i, 1).steps);
  EXPECT_GE(distinct.size(), 20u);
}

TEST(RoundRobinTest, TasksThatBackOffInStepGetThrough) {
  for (const Program& program : {backing_off(0), backing_off(1)}) {
    RoundRobin round_robin;
    for (std::uint64_t i = 1; i <= 100; ++i) {
      const History run = execute(round_robin, program, i, 5);
      ASSERT_FALSE(run.step_cap || run.deadlock) << "execution " << i;
    }
  }
}

TEST(RoundRobinTest, SpinningTasksEnd) {
  for (const Program& program :
       {spinning(spin), spinning(spin_plainly), spinning(spin_yielding), spinning(spin_sleeping)}) {
    RoundRobin round_robin;
    for (std::uint64_t i = 1; i <= 100; ++i) {
      const History run = execute(round_robin, program, i, 5);
      ASSERT_FALSE(run.step_cap || run.deadlock);
      ASSERT_LE(run.steps.size(), 3 * Fairness::kConsecutive);
    }
  }
}

}  // namespace
}  // namespace weft::strategies
