// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: specs give the strategy they name or one line that says what is wrong; and
// whatever the factory makes is a function of (execution, seed).
// Method: every name, good and bad parameters; the same executions twice.
#include "harness/strategies/factory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/strategies/test_programs.h"

namespace weft::strategies {
namespace {

using namespace testing;  // NOLINT: the simulator's vocabulary
using ::testing::HasSubstr;

class EverySpec : public ::testing::TestWithParam<const char*> {};

TEST_P(EverySpec, TheSameSeedGivesTheSameSchedule) {
  std::string error;
  for (const Program& program : {lost_plain_update(), lost_wakeup(),
                                 parallel({choose_some, lazy_init, spin_yielding, set_flag})}) {
    const auto one = make(GetParam(), error);
    const auto other = make(GetParam(), error);
    ASSERT_NE(one, nullptr) << error;
    for (std::uint64_t i = 1; i <= 100; ++i) {
      ASSERT_EQ(execute(*one, program, i, 42).steps, execute(*other, program, i, 42).steps)
          << "execution " << i;
    }
  }
}

TEST_P(EverySpec, AnotherSeedGivesAnother) {
  std::string error;
  const auto one = make(GetParam(), error);
  const auto other = make(GetParam(), error);
  int different = 0;
  for (std::uint64_t i = 1; i <= 100; ++i) {
    different +=
        execute(*one, lost_wakeup(), i, 1).steps != execute(*other, lost_wakeup(), i, 2).steps;
  }
  EXPECT_GE(different, 30);
}

INSTANTIATE_TEST_SUITE_P(Specs, EverySpec,
                         ::testing::Values("", "portfolio", "pct", "pct:depth=2", "pos",
                                           "pos:plain=1", "random", "random:switch=0.25",
                                           "round_robin", "determinism:pct:depth=5"));

std::string error_of(std::string_view spec) {
  std::string error;
  EXPECT_EQ(make(spec, error), nullptr) << spec;
  return error;
}

TEST(FactoryTest, SaysWhatThereIs) {
  EXPECT_EQ(error_of("dfs"),
            "no strategy is named 'dfs'; there are portfolio, pct, pos, random, round_robin, "
            "determinism");
  EXPECT_EQ(error_of("pct:dept=3"), "strategy 'pct' has no parameter 'dept'; it has depth");
  EXPECT_EQ(error_of("round_robin:quantum=3"),
            "strategy 'round_robin' has no parameter 'quantum'; it has none");
  EXPECT_EQ(error_of("pct:depth"), "strategy parameter 'depth' is not key=value");
  EXPECT_EQ(error_of("pct:depth=0"), "depth=0: expected a number from 1 to 32");
  EXPECT_EQ(error_of("pct:depth=3x"), "depth=3x: expected a number from 1 to 32");
  EXPECT_EQ(error_of("random:switch=nan"),
            "switch=nan: expected a probability above 0 and at most 1");
  EXPECT_THAT(error_of("determinism:determinism"), HasSubstr("determinism cannot check itself"));
  EXPECT_THAT(error_of("determinism:dfs"), HasSubstr("no strategy is named 'dfs'"));
}

TEST(FactoryTest, TheEmptySpecIsTheDefault) {
  std::string error = "left over";
  EXPECT_EQ(make("", error)->name(), kDefaultStrategy);
  EXPECT_EQ(error, "");
}

TEST(FactoryTest, HelpHasALineForEach) {
  for (const char* name : {"portfolio", "pct", "pos", "random", "round_robin", "determinism"}) {
    EXPECT_THAT(names_help(), HasSubstr(std::string("  ") + name + " "));
  }
}

}  // namespace
}  // namespace weft::strategies
