// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: PCT keeps the promise of its paper on programs of known depth, ends
// programs that spin, and puts change points on plain accesses.
// Method: thousands of seeded executions of simulated programs; the observed
// frequency must not be below 1/(n k^(d-1)) by more than chance explains.
#include "harness/strategies/pct.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/strategies/test_programs.h"

namespace weft::strategies {
namespace {

using namespace testing;  // NOLINT: the simulator's vocabulary

constexpr int kPadding = 3;

// Depth 1: wrong only if the second task runs before the first.
Body check_set(Simulator& sim) {
  const std::int64_t seen = co_await sim.load(0);
  if (seen == 0) sim.fail();
}
Program depth_one() {
  return parallel(
      {[](Simulator& sim) { return padded_store(sim, kPadding, 0, kPadding); }, check_set});
}

// Depth 2: the reader must come between two writes.
Body write_twice(Simulator& sim) {
  for (int i = 0; i < kPadding; ++i) co_await sim.load(100);
  co_await sim.store(0, 1);
  co_await sim.store(0, 2);
  for (int i = 0; i < kPadding; ++i) co_await sim.load(100);
}
Body read_between(Simulator& sim) {
  const std::int64_t seen = co_await sim.load(0);
  if (seen == 1) sim.fail();
}
Program depth_two() { return parallel({write_twice, read_between}); }

// Depth 3: one read between the writes, the next one after both.
Body read_twice(Simulator& sim) {
  const std::int64_t first = co_await sim.load(0);
  const std::int64_t second = co_await sim.load(0);
  if (first == 1 && second == 2) sim.fail();
}
Program depth_three() { return parallel({write_twice, read_twice}); }

void expect_bound(const Program& program, unsigned depth) {
  constexpr int kRuns = 20'000;
  constexpr double kTasks = 3;  // root and two children
  Pct pct({.depth = depth});
  int hits = 0;
  for (int i = 1; i <= kRuns; ++i)
    hits += execute(pct, program, static_cast<std::uint64_t>(i), 1).bug();
  const auto k = static_cast<double>(pct.step_bound());
  const double bound = 1 / (kTasks * std::pow(k, depth - 1));
  const double deviation = std::sqrt(kRuns * bound * (1 - bound));
  EXPECT_GE(k, 5) << "the program is too short to tell anything";
  EXPECT_GE(hits, kRuns * bound - 4 * deviation) << "depth " << depth << ", k " << k;
}

TEST(PctTest, KeepsTheBoundAtDepthOne) { expect_bound(depth_one(), 1); }
TEST(PctTest, KeepsTheBoundAtDepthTwo) { expect_bound(depth_two(), 2); }
TEST(PctTest, KeepsTheBoundAtDepthThree) { expect_bound(depth_three(), 3); }

TEST(PctTest, WithoutChangePointsNoTaskIsPreempted) {
  Pct pct({.depth = 1});
  for (std::uint64_t i = 1; i <= 2000; ++i) ASSERT_FALSE(execute(pct, depth_two(), i, 1).bug());
}

TEST(PctTest, AChangePointOnAPlainAccessIsASchedulePoint) {
  Pct pct({.depth = 2});
  // Nothing but plain accesses: without a point between read and write there is no bug to find.
  EXPECT_LE(first_bug(pct, lost_plain_update(), 1, 200), 200u);
}

TEST(PctTest, SpinningTasksEnd) {
  for (const Program& program :
       {spinning(spin), spinning(spin_yielding), spinning(spin_sleeping)}) {
    Pct pct;
    for (std::uint64_t i = 1; i <= 300; ++i) {
      const History run = execute(pct, program, i, 5);
      ASSERT_FALSE(run.step_cap || run.deadlock);
      // Two spinners with their full share each, and some.
      ASSERT_LE(run.steps.size(), 3 * Fairness::kConsecutive);
    }
  }
}

TEST(PctTest, ALoopAroundAPlainReadEnds) {
  Pct pct({.depth = 1});
  std::uint64_t longest = 0;
  for (std::uint64_t i = 1; i <= 20 && longest < 100 * Fairness::kConsecutive; ++i) {
    const History run = execute(pct, parallel({spin_plainly, set_flag}), i, 5);
    ASSERT_FALSE(run.step_cap || run.deadlock);
    longest = std::max(longest, run.operations);
  }
  EXPECT_GE(longest, 100 * Fairness::kConsecutive) << "no execution began with the spinner";
}

Body set_up_then(Simulator& sim) {
  for (int i = 0; i < 5000; ++i) {
    co_await sim.load(100);
    co_await sim.plain_read(100);
  }
  const std::int64_t first = co_await sim.spawn(increment_atomic);
  const std::int64_t second = co_await sim.spawn(increment_atomic);
  co_await sim.join(first);
  co_await sim.join(second);
  expect_two(sim);
}

TEST(PctTest, ALongSetUpDoesNotDiluteTheChangePoints) {
  Pct pct;
  EXPECT_LE(first_bug(pct, set_up_then, 1, 60), 60u);
  EXPECT_LT(pct.step_bound(), 32u);
}

TEST(PctTest, WhatWasLearntSurvivesTheWorker) {
  Pct taught;
  execute(taught, spinning(spin), 1, 1);
  unsigned char bytes[64];
  const std::size_t size = taught.save(bytes, sizeof bytes);
  Pct heir;
  ASSERT_TRUE(heir.load(bytes, size));
  EXPECT_EQ(heir.step_bound(), taught.step_bound());
  EXPECT_EQ(execute(heir, abba(), 2, 9).steps, execute(taught, abba(), 2, 9).steps);
  bytes[0] ^= 1;
  EXPECT_FALSE(heir.load(bytes, size));
  EXPECT_FALSE(heir.load(bytes, size - 1));
}

}  // namespace
}  // namespace weft::strategies
