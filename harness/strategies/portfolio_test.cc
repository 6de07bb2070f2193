// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: the default finds each classic bug within a small budget, leaves correct
// programs alone, and uses all of its members under any number of workers.
// Method: first-bug numbers over seeds; names of the active member.
#include "harness/strategies/portfolio.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/strategies/test_programs.h"

namespace weft::strategies {
namespace {

using namespace testing;  // NOLINT: the simulator's vocabulary

std::uint64_t median_first_bug(const Program& program) {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t seed = 1; seed <= 101; ++seed) {
    Portfolio portfolio;
    numbers.push_back(first_bug(portfolio, program, seed, 1000));
  }
  std::nth_element(numbers.begin(), numbers.begin() + 50, numbers.end());
  return numbers[50];
}

// The best column of the comparison with the peers.
TEST(PortfolioTest, TheClassicBugsAreFoundAtOnce) {
  EXPECT_EQ(median_first_bug(lost_update()), 1u);
  EXPECT_EQ(median_first_bug(abba()), 1u);
  EXPECT_EQ(median_first_bug(double_init()), 1u);
  EXPECT_LE(median_first_bug(lost_wakeup()), 3u);
}

TEST(PortfolioTest, ACorrectProgramPasses) {
  Portfolio portfolio;
  EXPECT_EQ(first_bug(portfolio, locked_update(), 1, 1000), 1001u);
}

TEST(PortfolioTest, EveryWorkerUsesSeveralMembers) {
  for (const std::uint64_t workers : {1, 2, 3, 4, 8, 16}) {
    std::set<std::string_view> all;
    for (std::uint64_t worker = 1; worker <= workers; ++worker) {
      Portfolio portfolio;
      std::set<std::string_view> own;
      for (std::uint64_t i = 0; i < 24; ++i) {
        portfolio.next_execution(worker + i * workers, 1);
        own.insert(portfolio.active().name());
      }
      EXPECT_GE(own.size(), 2u) << workers << " workers, number " << worker;
      all.merge(own);
    }
    EXPECT_EQ(all.size(), 4u) << workers << " workers";
  }
}

TEST(PortfolioTest, WhatOneLearnsAllKnowAndKeep) {
  Portfolio taught;
  for (std::uint64_t i = 1; i <= 20; ++i) execute(taught, lost_wakeup(), i, 1);
  unsigned char bytes[64];
  const std::size_t size = taught.save(bytes, sizeof bytes);
  Portfolio heir;
  ASSERT_TRUE(heir.load(bytes, size));
  for (std::uint64_t i = 21; i <= 40; ++i) {
    EXPECT_EQ(execute(heir, lost_wakeup(), i, 1).steps, execute(taught, lost_wakeup(), i, 1).steps)
        << i;
  }
}

}  // namespace
}  // namespace weft::strategies
