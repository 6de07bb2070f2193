// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Goal: WEFT_TEST is a GoogleTest test whose failure explains itself and comes back by
// --weft_replay. Method: runs subject/gtest_subject.cc as a user does.

#include <gmock/gmock.h>

#include <csignal>

#include "harness/cli/subject/run_program.h"

namespace weft::cli {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class GtestProgramTest : public ProgramTest {
 protected:
  [[nodiscard]] Ran program(const std::string& arguments) const {
    return run(std::string(WEFT_GTEST_SUBJECT) + " " + arguments);
  }
};

TEST_F(GtestProgramTest, WhatHoldsPasses) {
  const Ran ran = program("--gtest_filter=Plain.*:Counter.IsLocked");
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("[  PASSED  ] 2 tests."));
}

TEST_F(GtestProgramTest, AFailedExpectationOnAnyThreadFailsTheTestAndReplays) {
  const Ran found = program("--gtest_filter=Counter.FailsOnAnotherThread");
  EXPECT_EQ(found.status, 1);
  EXPECT_THAT(found.out, AllOf(HasSubstr("somebody else wrote"), HasSubstr("gtest_subject.cc:"),
                               HasSubstr("[  FAILED  ] Counter.FailsOnAnotherThread")));
  const std::string token = rest_of_line(found.out, "--weft_replay=");
  ASSERT_THAT(token, StartsWith("weft2."));

  // The token alone picks the test.
  const Ran again = program("--weft_replay=" + token);
  EXPECT_EQ(again.status, 1);
  EXPECT_THAT(again.out, AllOf(HasSubstr("[ RUN      ] Counter.FailsOnAnotherThread"),
                               HasSubstr("somebody else wrote"), Not(HasSubstr("Plain"))));
  EXPECT_EQ(run("WEFT_REPLAY=" + token + " " WEFT_GTEST_SUBJECT).status, 1);
}

TEST_F(GtestProgramTest, AnAssertionOnTheRootEndsTheExecution) {
  const Ran ran = program("--gtest_filter=Counter.AssertsOnTheRoot");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("Expected equality of these values: counter, Which is: 1, 0"));
}

TEST_F(GtestProgramTest, ALoopOfPlainAccessesIsAHang) {
  const Ran ran = program("--gtest_filter=List.HasNoEnd");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("weft: hang in List.HasNoEnd"),
                    HasSubstr("task 0 has not come back for 0.5"), HasSubstr("gtest_subject.cc")));
}

TEST_F(GtestProgramTest, ASkippedTestIsSkipped) {
  const Ran always = program("--gtest_filter=Skipped.Always");
  EXPECT_EQ(always.status, 0);
  EXPECT_THAT(always.out, HasSubstr("[  SKIPPED ] Skipped.Always"));
  EXPECT_THAT(always.out, ContainsRegex("gtest_subject.cc:[0-9]+: Skipped\nno device here"));
  const Ran sometimes = program("--gtest_filter=Skipped.Sometimes");
  EXPECT_THAT(sometimes.out, HasSubstr("[       OK ] Skipped.Sometimes"));
  EXPECT_THAT(sometimes.out,
              ContainsRegex("[0-9]+ of 50 executions skipped the test: not this one"));
}

TEST_F(GtestProgramTest, FlagsOverruleTheTestsOptions) {
  const Ran ran =
      program("--gtest_filter=Counter.IsLocked --weft_schedules=7 --gtest_output=json:result.json");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(read("result.json"), HasSubstr("\"executions\": \"7\""));
}

TEST_F(GtestProgramTest, SuppressionsAreForAllTestsTogether) {
  const std::string racy = "--gtest_filter=Counter.IsReadInPassing:Counter.IsLocked";
  EXPECT_EQ(program(racy).status, 1);
  std::ofstream(directory_ + "/weft.supp") << "# A glance.\nrace:gtest_subject.cc$\n"
                                           << "# Mended.\nrace:elsewhere\n";
  const Ran ran = program(racy + " --weft_suppressions=weft.supp");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, AllOf(ContainsRegex("weft: suppressed [0-9]+ times?: "),
                             HasSubstr("race:gtest_subject.cc$ (weft.supp:2: A glance.)")));
  EXPECT_EQ(ran.err, "weft: weft.supp:4: 'race:elsewhere' suppressed nothing\n");
  EXPECT_THAT(program(racy + " --weft_suppressions=none.supp").out,
              HasSubstr("cannot open none.supp"));
}

TEST_F(GtestProgramTest, CtrlCSaysHowFarItCame) {
  const Ran ran = run("timeout -s INT 1 " WEFT_GTEST_SUBJECT
                      " --gtest_filter=Counter.IsLocked --weft_schedules=100000000");
  EXPECT_THAT(ran.out, ContainsRegex("weft: interrupted in Counter.IsLocked after [0-9]+ "
                                     "executions; of 1 test 0 passed, 0 failed"));
}

TEST_F(GtestProgramTest, TheReportIsAFileBesideTheToken) {
  const Ran found = program("--gtest_filter=Counter.FailsOnAnotherThread");
  const std::string report = rest_of_line(found.out, "  less ");
  EXPECT_THAT(report, EndsWith("/report.txt"));
  EXPECT_THAT(read(report), HasSubstr("Schedule"));
}

TEST_F(GtestProgramTest, AReplayRunsWhateverElseWouldKeepItFromRunning) {
  const std::string disabled =
      "--gtest_filter=Counter.DISABLED_Fails --gtest_also_run_disabled_tests";
  const Ran found = program(disabled);
  EXPECT_EQ(found.status, 1);
  const std::string replay = " --weft_replay=" + rest_of_line(found.out, "--weft_replay=");
  EXPECT_THAT(run("GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=1 " WEFT_GTEST_SUBJECT + replay).out,
              HasSubstr("[  FAILED  ] Counter.DISABLED_Fails"));
}

TEST_F(GtestProgramTest, WorkThatMayTakeLongerMayDoSoInAReplay) {
  const Ran found = program("--gtest_filter=Slow.Fails");
  EXPECT_THAT(found.out, HasSubstr("weft: failed expectation in Slow.Fails"));
  EXPECT_THAT(program("--weft_replay=" + rest_of_line(found.out, "--weft_replay=")).out,
              HasSubstr("Failed\nweft: failed expectation in Slow.Fails"));
}

TEST_F(GtestProgramTest, MistakesAreExitStatusTwo) {
  const Ran unknown = program("--weft_scheduels=7");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("--weft_scheduels=7: no such flag"));
  EXPECT_THAT(program("--weft-seed=7").err, HasSubstr("--weft-seed=7: no such flag; they begin"));
  EXPECT_EQ(program("--weft_replay=weft1.nonsense").status, 2);
  EXPECT_THAT(program("--weft_replay=").err, HasSubstr("give a token"));
  EXPECT_THAT(program("--weft_help").out, HasSubstr("--weft_schedules=N"));
  EXPECT_THAT(program("--help").out, HasSubstr("--weft_help"));
}

TEST_F(ProgramTest, WithoutAFrameworkTheEnvironmentReplays) {
  const Ran found = run(WEFT_PLAIN_SUBJECT);
  EXPECT_EQ(found.status, 1);
  EXPECT_THAT(found.out, HasSubstr("the other thread is late"));
  const std::string token = rest_of_line(found.out, "WEFT_REPLAY=");
  const Ran again = run("WEFT_REPLAY=" + token);  // the line ends with the program
  EXPECT_EQ(again.status, 1);
  EXPECT_THAT(again.out, HasSubstr("the other thread is late"));
  const Ran fewer = run("WEFT_SCHEDULES=0 " WEFT_PLAIN_SUBJECT);
  EXPECT_THAT(fewer.out, HasSubstr("WEFT_SCHEDULES: '0' will not do"));
}

TEST_F(ProgramTest, TheNativeBackendRunsTheSameStories) {
  const Ran passes = run(WEFT_NATIVE_SUBJECT " run end/passes --weft_schedules=20");
  EXPECT_EQ(passes.status, 0) << passes.err;
  EXPECT_THAT(passes.out, StartsWith("end/passes: 20 runs in "));
  EXPECT_THAT(run(WEFT_NATIVE_SUBJECT " list").out, HasSubstr("end/two_bugs\n"));

  // One of three numbers is right: a hundred runs meet the others.
  const Ran fails = run(WEFT_NATIVE_SUBJECT " run end/two_bugs");
  EXPECT_EQ(fails.status, 128 + SIGABRT);
  EXPECT_THAT(fails.err, HasSubstr("is not chosen"));
  EXPECT_EQ(run(WEFT_NATIVE_SUBJECT " run no_such_story").status, 5);
  const Ran replay = run("WEFT_REPLAY=weft1.x " WEFT_NATIVE_SUBJECT " run end/passes");
  EXPECT_EQ(replay.status, 2);
  EXPECT_THAT(replay.err, HasSubstr("the native backend cannot replay"));
}

}  // namespace
}  // namespace weft::cli
