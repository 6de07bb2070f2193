// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: bytes tell a schedule as the header says, none tell the default one, and enough of them
// find the plainest bugs. Method: step lists and bugs on simulated programs.
#include "harness/strategies/input_bytes.h"

#include <gtest/gtest.h>

#include <vector>

#include "harness/base/prng.h"
#include "harness/strategies/test_programs.h"

namespace weft::strategies {
namespace {

using namespace testing;  // NOLINT: the simulator's vocabulary

using Bytes = std::vector<std::uint8_t>;

History execute_bytes(const Bytes& bytes, const Program& program) {
  InputBytes strategy;
  strategy.feed(bytes);
  return execute(strategy, program, 1, 1);
}

TEST(InputBytesTest, NoBytesAndHalfAPairAreTheDefaultSchedule) {
  EXPECT_TRUE(execute_bytes({}, lost_update()).log.empty());
  EXPECT_TRUE(execute_bytes({0}, lost_update()).log.empty());
  EXPECT_FALSE(execute_bytes({}, lost_update()).bug());
}

TEST(InputBytesTest, APairIsOnePreemptionAfterSoManyDecisions) {
  for (std::uint8_t gap = 0; gap < 4; ++gap) {
    const History run = execute_bytes({gap, 0}, lost_update());
    ASSERT_EQ(run.log.size(), 1u) << int{gap};
    EXPECT_EQ(run.log[0].kind, trace::ChoiceKind::kSchedule);
  }
  const History early = execute_bytes({0, 0}, lost_update());
  const History late = execute_bytes({1, 0}, lost_update());
  EXPECT_NE(early.steps, late.steps);
}

TEST(InputBytesTest, TheSameBytesAreTheSameSchedule) {
  const Bytes bytes = {2, 1, 0, 3, 1, 1, 4, 0};
  EXPECT_EQ(execute_bytes(bytes, lost_wakeup()).steps, execute_bytes(bytes, lost_wakeup()).steps);
}

TEST(InputBytesTest, SomeBytesFindThePlainestBugs) {
  const std::pair<const char*, Program> programs[] = {{"lost update", lost_update()},
                                                      {"lost plain update", lost_plain_update()},
                                                      {"AB-BA", abba()},
                                                      {"lost wake-up", lost_wakeup()}};
  for (const auto& [name, program] : programs) {
    Prng prng(1);
    bool found = false;
    for (int i = 0; i < 2000 && !found; ++i) {
      Bytes bytes(8);
      for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(prng.below(8));
      found = execute_bytes(bytes, program).bug();
    }
    EXPECT_TRUE(found) << name;
  }
}

}  // namespace
}  // namespace weft::strategies
