// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: a choice log, and nothing else, brings back the same execution; a log that
// does not fit is refused by strict replay with a line that says where and why,
// and followed as far as possible by lenient replay.
// Method: executions by every strategy on several programs, replayed from their logs, whole and
// tampered with.
#include "harness/strategies/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/strategies/factory.h"
#include "harness/strategies/test_programs.h"
#include "harness/trace/token.h"

namespace weft::strategies {
namespace {

using namespace testing;  // NOLINT: the simulator's vocabulary
using ::testing::HasSubstr;

History replay(const History& original, const Program& program,
               ReplayMode mode = ReplayMode::kStrict) {
  Replay strategy(original.log, original.tasks, mode);
  return execute(strategy, program, 1, 0);
}

// The same through a token's text, which is how it comes from a user.
History replay_token(const History& original, const Program& program) {
  const auto index_of = [&](TaskId id) {
    const auto row =
        std::find_if(original.tasks.begin(), original.tasks.end(),
                     [&](const trace::TaskRow& candidate) { return candidate.id == id; });
    return static_cast<TaskIndex>(row - original.tasks.begin());
  };
  std::vector<trace::Deviation> log = original.log;
  for (trace::Deviation& deviation : log) {
    deviation.task_index = index_of(deviation.task);
    if (trace::chooses_task(deviation.kind)) {
      deviation.value_index = index_of(TaskId{deviation.value});
    }
  }
  const auto token = trace::with_deviations({}, original.tasks, log);
  EXPECT_TRUE(token) << token.error();
  const auto parsed = trace::parse_token(trace::format_token(*token));
  EXPECT_TRUE(parsed) << parsed.error();
  Replay strategy(parsed->deviations, parsed->tasks, ReplayMode::kStrict);
  return execute(strategy, program, 1, 0);
}

class ReplayOf : public ::testing::TestWithParam<const char*> {};

TEST_P(ReplayOf, GivesTheSameExecution) {
  const Program programs[] = {lost_update(),  lost_plain_update(),
                              abba(),         double_init(),
                              lost_wakeup(),  spinning(spin_sleeping),
                              root_and_child, parallel({choose_some, lazy_init, choose_some})};
  std::string error;
  const auto strategy = make(GetParam(), error);
  for (const Program& program : programs) {
    for (std::uint64_t i = 1; i <= 150; ++i) {
      const History original = execute(*strategy, program, i, 11);
      for (const ReplayMode mode : {ReplayMode::kStrict, ReplayMode::kLenient}) {
        const History again = replay(original, program, mode);
        ASSERT_EQ(again.complaint, "");
        ASSERT_EQ(again.bug(), original.bug());
        ASSERT_EQ(again.log.size(), original.log.size());
        // A recorded execution has points that its replay need not have: considered plain accesses
        // where nobody deviated. Everything else must agree, in order.
        const auto without_plain = [](const History& run) {
          std::vector<std::pair<TaskIndex, OpKind>> steps;
          for (const auto& step : run.steps) {
            if (!trace::is_plain(step.second)) steps.push_back(step);
          }
          return steps;
        };
        ASSERT_EQ(without_plain(again), without_plain(original));
      }
      const History by_token = replay_token(original, program);
      ASSERT_EQ(by_token.complaint, "");
      ASSERT_EQ(by_token.bug(), original.bug());
      ASSERT_EQ(by_token.log.size(), original.log.size());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Strategies, ReplayOf,
                         ::testing::Values("random", "pct", "pos", "round_robin", "portfolio"));

// An execution of `program` with at least one scheduling deviation.
History eventful(const Program& program) {
  std::string error;
  const auto strategy = make("pos", error);
  for (std::uint64_t i = 1;; ++i) {
    History run = execute(*strategy, program, i, 1);
    if (!run.log.empty() && run.log.back().kind == trace::ChoiceKind::kSchedule) return run;
  }
}

TEST(ReplayTest, AnotherHistoryIsADivergence) {
  History original = eventful(abba());
  original.log.front().digest ^= 1;
  const History again = replay(original, abba());
  EXPECT_THAT(again.complaint, HasSubstr("but the steps before it were others"));
  EXPECT_EQ(replay(original, abba(), ReplayMode::kLenient).complaint, "");
}

TEST(ReplayTest, ATaskThatIsNotEnabledIsADivergence) {
  History original = eventful(lost_update());
  original.log.front().value = kRootTask.child(0xffff'ffff).value;  // the timer: nobody sleeps
  Replay strategy(original.log, original.tasks, ReplayMode::kStrict);
  const History again = execute(strategy, lost_update(), 1, 0);
  EXPECT_THAT(again.complaint, HasSubstr("expected task 0"));
  EXPECT_THAT(again.complaint,
              HasSubstr("to be followed by task timer, but that task is not enabled"));
  EXPECT_THAT(again.complaint, HasSubstr("to choose from"));
  const ReplayStatus& status = strategy.status();
  EXPECT_TRUE(status.diverged);
  EXPECT_EQ(status.expected.operation, original.log.front().operation);
  EXPECT_EQ(status.at_operation, original.log.front().operation);
}

TEST(ReplayTest, ADeviationThatIsNeverReachedIsADivergence) {
  History original = eventful(lost_update());
  original.log.push_back({.task = kRootTask.child(1), .operation = 1000, .value = kRootTask.value});
  EXPECT_THAT(replay(original, lost_update()).complaint,
              HasSubstr("expected task 0.1 at its operation 1000 to be followed by task 0, but the "
                        "execution ended"));
}

TEST(ReplayTest, AChoiceAmongFewerIsADivergence) {
  History original;
  original.tasks.push_back({.id = kRootTask});
  const trace::Deviation choice = {
      .task = kRootTask, .operation = 2, .value = 7, .kind = trace::ChoiceKind::kUser, .digest = 0};
  original.log.push_back(choice);
  Replay strategy(original.log, original.tasks, ReplayMode::kLenient);
  const History again = execute(strategy, choose_some, 1, 0);
  EXPECT_EQ(again.complaint, "");
  EXPECT_EQ(strategy.status().applied, 0u);
  EXPECT_EQ(strategy.status().skipped, 1u);
}

TEST(ReplayTest, LenientFollowsWhatStillApplies) {
  History original = eventful(lost_wakeup());
  const std::size_t size = original.log.size();
  original.log.push_back({.task = kRootTask.child(7), .operation = 3, .value = kRootTask.value});
  Replay strategy(original.log, original.tasks, ReplayMode::kLenient);
  const History again = execute(strategy, lost_wakeup(), 1, 0);
  EXPECT_EQ(again.complaint, "");
  EXPECT_EQ(strategy.status().applied, size);
  EXPECT_EQ(strategy.status().skipped, 1u);
  EXPECT_EQ(strategy.status().expected.task, kRootTask.child(7));
}

TEST(ReplayTest, TheEmptyLogIsTheDefaultSchedule) {
  const History run = replay(History{}, lost_wakeup());
  EXPECT_EQ(run.complaint, "");
  EXPECT_TRUE(run.log.empty());
}

}  // namespace
}  // namespace weft::strategies
