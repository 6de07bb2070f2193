// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Goal: scenarios come in name order whatever the order of registration; a name is taken once.
// Method: WEFT_SCENARIO itself, as a story's file uses it.

#include <gtest/gtest.h>

#include <weft/scenario.h>

namespace weft {
namespace {

int runs = 0;

WEFT_SCENARIO(second, {.name = "registry/second.fixed", .summary = "passes", .budget = 7}) {
  ++runs;
}
WEFT_SCENARIO(first, {.name = "registry/first.buggy", .expect = must_find("deadlock")}) {}

TEST(Scenarios, AreInNameOrderWithTheirFacts) {
  const std::vector<Scenario>& all = scenarios();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "registry/first.buggy");
  EXPECT_TRUE(all[0].expect.must_find);
  EXPECT_EQ(all[0].expect.kind, "deadlock");
  EXPECT_EQ(all[0].budget, 1000u);
  EXPECT_EQ(all[1].name, "registry/second.fixed");
  EXPECT_FALSE(all[1].expect.must_find);
  EXPECT_EQ(all[1].budget, 7u);
  EXPECT_STREQ(all[1].source, __FILE__);
  EXPECT_GT(all[1].line, 0);
  all[1].body();
  EXPECT_EQ(runs, 1);
}

TEST(ScenariosDeathTest, ATakenNameEndsTheProgram) {
  EXPECT_EXIT(register_scenario({.name = "registry/first.buggy", .source = "here.cc", .line = 3}),
              testing::ExitedWithCode(2),
              "here.cc:3: the scenario's name 'registry/first.buggy' is already taken");
}

}  // namespace
}  // namespace weft
