// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: the switch probability is the one asked for, and without one a campaign
// covers dense and sparse schedules.
// Method: counting preemptions in seeded executions of two independent tasks.
#include "harness/strategies/random.h"

#include <gtest/gtest.h>

#include "harness/strategies/test_programs.h"

namespace weft::strategies {
namespace {

using namespace testing;  // NOLINT: the simulator's vocabulary

constexpr int kSteps = 200;

Program two_walks() {
  return parallel({[](Simulator& sim) { return padded_store(sim, kSteps, 0, 0); },
                   [](Simulator& sim) { return padded_store(sim, kSteps, 1, 0); }});
}

// Switches between the two walkers (tasks 2 and 3), and the steps during which both were there to
// choose from.
struct Switches {
  int count = 0;
  int contested = 0;
};

Switches count_switches(const History& run) {
  Switches switches;
  TaskIndex last = kNoTaskIndex;
  for (const auto& [task, kind] : run.steps) {
    if (task < 2) continue;
    if (last != kNoTaskIndex && task != last) ++switches.count;
    last = task;
    if (kind == OpKind::kTaskEnd) break;
    ++switches.contested;
  }
  return switches;
}

TEST(RandomTest, SwitchesWithTheGivenProbability) {
  Random random({.switch_probability = 0.1});
  Switches all;
  for (std::uint64_t i = 1; i <= 200; ++i) {
    const Switches one = count_switches(execute(random, two_walks(), i, 1));
    all.count += one.count;
    all.contested += one.contested;
  }
  EXPECT_NEAR(static_cast<double>(all.count) / all.contested, 0.1, 0.01);
}

TEST(RandomTest, CoversDenseAndSparse) {
  Random random;
  int sparse = 0;
  int dense = 0;
  for (std::uint64_t i = 1; i <= 200; ++i) {
    const Switches one = count_switches(execute(random, two_walks(), i, 1));
    sparse += one.count * 30 < one.contested;
    dense += one.count * 3 > one.contested;
  }
  EXPECT_GE(sparse, 20);
  EXPECT_GE(dense, 20);
}

TEST(RandomTest, FindsPlainRaces) {
  Random random;
  EXPECT_LE(first_bug(random, lost_plain_update(), 1, 300), 300u);
}

// 1 alternates strictly, 2^-20 leaves a loop once in a million points.
TEST(RandomTest, LoopsThatWaitForAnotherTaskEnd) {
  for (const double switch_probability : {0.0, 1.0, 0x1p-20}) {
    for (const Program& program : {spinning(spin), spinning(spin_plainly), spinning(spin_yielding),
                                   spinning(spin_sleeping), backing_off(0), backing_off(1)}) {
      Random random({.switch_probability = switch_probability});
      for (std::uint64_t i = 1; i <= 30; ++i) {
        const History run = execute(random, program, i, 5);
        ASSERT_FALSE(run.step_cap || run.deadlock) << switch_probability << ", execution " << i;
        ASSERT_LE(run.steps.size(), 20 * Fairness::kConsecutive);
      }
    }
  }
}

TEST(RandomTest, TasksThatBackOffInStepLoseStepSoon) {
  for (const int yields : {0, 1, 10}) {
    Random random({.switch_probability = 1});
    for (std::uint64_t i = 1; i <= 200; ++i)
      ASSERT_LE(execute(random, backing_off(yields), i, 5).steps.size(), 2000u);
  }
}

}  // namespace
}  // namespace weft::strategies
