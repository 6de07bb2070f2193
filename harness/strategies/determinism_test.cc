// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: programs whose behaviour is a function of the choices pass; one that is
// not is caught at the step where it first differs, with both sides described.
// Method: simulated programs, one of which reads a variable that survives executions.
#include "harness/strategies/determinism.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/strategies/factory.h"
#include "harness/strategies/round_robin.h"
#include "harness/strategies/test_programs.h"

namespace weft::strategies {
namespace {

using namespace testing;  // NOLINT: the simulator's vocabulary
using ::testing::HasSubstr;

TEST(DeterminismTest, DeterministicProgramsPassInPairs) {
  for (const char* spec :
       {"determinism", "determinism:pct", "determinism:pos:plain=1", "determinism:random"}) {
    std::string error;
    const auto strategy = make(spec, error);
    ASSERT_NE(strategy, nullptr) << error;
    for (const Program& program :
         {lost_plain_update(), lost_wakeup(), spinning(spin_sleeping), Program(choose_some)}) {
      for (std::uint64_t i = 1; i <= 100; i += 2) {
        const History first = execute(*strategy, program, i, 1);
        const History second = execute(*strategy, program, i + 1, 1);
        ASSERT_EQ(second.complaint, "");
        ASSERT_EQ(first.steps, second.steps);
      }
    }
  }
}

int executions_so_far = 0;  // what a program must not depend on

Body once_only(Simulator& sim) {
  co_await sim.load(1);
  if (executions_so_far++ == 0) co_await sim.store(1, 1);
}

TEST(DeterminismTest, StateThatSurvivesAnExecutionIsCaught) {
  executions_so_far = 0;
  Determinism strategy(std::make_unique<RoundRobin>());
  ASSERT_EQ(execute(strategy, parallel({once_only}), 1, 1).complaint, "");
  const History second = execute(strategy, parallel({once_only}), 2, 1);
  EXPECT_THAT(second.complaint, HasSubstr("two runs of one schedule differ at step"));
  EXPECT_THAT(second.complaint, HasSubstr("first run: task 2 performs atomic store"));
  EXPECT_THAT(second.complaint, HasSubstr("second run: task 2 performs end"));
  EXPECT_EQ(strategy.complaint()->kind, trace::FindingKind::kNondeterminism);
  EXPECT_TRUE(strategy.status().differs);
}

Body store_and_then_load(Simulator& sim) {
  co_await sim.load(1);
  if (executions_so_far++ == 0) {
    co_await sim.store(1, 1);
  } else {
    co_await sim.load(1);
  }
}

TEST(DeterminismTest, ADifferentPendingOperationIsCaughtWhereItIsFirstSeen) {
  executions_so_far = 0;
  Determinism strategy(std::make_unique<RoundRobin>());
  const Program program = parallel({store_and_then_load, set_flag, set_flag});
  execute(strategy, program, 1, 1);
  const History second = execute(strategy, program, 2, 1);
  EXPECT_THAT(second.complaint, HasSubstr("enabled: 2 atomic store (operation 3), 3 "));
  EXPECT_THAT(second.complaint, HasSubstr("enabled: 2 atomic load (operation 3), 3 "));
}

TEST(DeterminismTest, APairMayFollowAComplaint) {
  executions_so_far = 0;
  Determinism strategy(std::make_unique<RoundRobin>());
  execute(strategy, parallel({once_only}), 1, 1);
  ASSERT_NE(execute(strategy, parallel({once_only}), 2, 1).complaint, "");
  EXPECT_EQ(execute(strategy, parallel({once_only}), 3, 1).complaint, "");
  EXPECT_EQ(execute(strategy, parallel({once_only}), 4, 1).complaint, "");
}

}  // namespace
}  // namespace weft::strategies
