// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: POS samples partial orders as its paper says: delays over independent
// operations are far likelier than in a random walk, and racing operations are
// ordered independently of one another.
// Method: frequencies over seeded executions of programs whose probabilities can be
// worked out by hand.
#include "harness/strategies/pos.h"

#include <gtest/gtest.h>

#include <map>

#include "harness/strategies/random.h"
#include "harness/strategies/test_programs.h"

namespace weft::strategies {
namespace {

using namespace testing;  // NOLINT: the simulator's vocabulary

constexpr int kPrivateSteps = 20;

Body walk_then_check(Simulator& sim) {
  for (int i = 0; i < kPrivateSteps; ++i) co_await sim.load(100);
  const std::int64_t seen = co_await sim.load(0);
  if (seen == 0) sim.fail();
}
Program long_delay() { return parallel({set_flag, walk_then_check}); }

int count_bugs(engine::Strategy& strategy, const Program& program, int runs) {
  int bugs = 0;
  for (int i = 1; i <= runs; ++i)
    bugs += execute(strategy, program, static_cast<std::uint64_t>(i), 3).bug();
  return bugs;
}

TEST(PosTest, ALongDelayIsOneOutOfLengthNotOfItsPower) {
  // The store must have the lowest priority of kPrivateSteps + 2: one in 22.
  constexpr int kRuns = 4400;
  Pos pos;
  const int bugs = count_bugs(pos, long_delay(), kRuns);
  EXPECT_NEAR(bugs, kRuns / (kPrivateSteps + 2.0), 60);  // 4 standard deviations: 4 sqrt(200)
  // A fair coin at each point: 2^-21.
  Random walk({.switch_probability = 0.5});
  EXPECT_LE(count_bugs(walk, long_delay(), kRuns), 1);
}

Body store_twice(Simulator& sim, std::int64_t first) {
  co_await sim.store(0, first);
  co_await sim.store(0, first + 1);
}

TEST(PosTest, RacingOperationsDrawAnew) {
  // All four writes race, so each step is a fair coin until one task is done.
  // Without redrawing (BasicPOS) AABB would have probability 1/3: the first of B is the least of
  // three.
  constexpr int kRuns = 8000;
  const Program program = parallel({[](Simulator& sim) { return store_twice(sim, 1); },
                                    [](Simulator& sim) { return store_twice(sim, 3); }});
  Pos pos;
  std::map<std::string, int> orders;
  for (int i = 1; i <= kRuns; ++i) {
    std::string order;
    for (const auto& [task, kind] : execute(pos, program, static_cast<std::uint64_t>(i), 1).steps) {
      if (kind == OpKind::kAtomicStore) order += static_cast<char>('A' + task - 2);
    }
    ++orders[order];
  }
  EXPECT_EQ(orders.size(), 6u);
  for (const auto& [order, count] : orders) {
    const int expected = order == "AABB" || order == "BBAA" ? kRuns / 4 : kRuns / 8;
    EXPECT_NEAR(count, expected, 160) << order;  // 4 standard deviations: 4 sqrt(8000 * 3/16)
  }
}

TEST(PosTest, EveryPlainAccessIsConsideredWhenAskedFor) {
  Pos pos({.plain_gap = 1});
  // A lost update happens unless one task is done before the other begins to write: 1/3 (see the
  // paper's figure 1 for the reasoning). 200 executions without one: 10^-36.
  EXPECT_LE(first_bug(pos, lost_plain_update(), 1, 200), 200u);
  EXPECT_NEAR(count_bugs(pos, lost_plain_update(), 3000), 1000, 110);
}

TEST(PosTest, LocksAreNotBroken) {
  Pos pos;
  EXPECT_EQ(count_bugs(pos, locked_update(), 1000), 0);
}

TEST(PosTest, SpinningTasksEnd) {
  for (const Program& program :
       {spinning(spin), spinning(spin_plainly), spinning(spin_yielding), spinning(spin_sleeping)}) {
    Pos pos;
    for (std::uint64_t i = 1; i <= 300; ++i) {
      const History run = execute(pos, program, i, 5);
      ASSERT_FALSE(run.step_cap || run.deadlock);
    }
  }
}

}  // namespace
}  // namespace weft::strategies
