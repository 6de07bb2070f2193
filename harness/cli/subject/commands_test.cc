// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Goal: each command prints what it should where it should, and its exit status says what happened.
// Method: runs subject/subject.cc as a user does; tokens are taken from the printed text.

#include <gmock/gmock.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/cli/subject/run_program.h"

namespace weft::cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class CommandsTest : public ProgramTest {
 protected:
  [[nodiscard]] Ran weft(const std::string& arguments) const {
    return run(std::string(WEFT_SUBJECT) + " " + arguments);
  }
};

TEST_F(CommandsTest, ListNamesEveryScenarioOnce) {
  const json all = json::parse(weft("list --json").out);
  ASSERT_EQ(all.size(), 15u);
  EXPECT_EQ(all[0]["name"], "end/always");
  EXPECT_EQ(all[0]["expect"], "must_find always");
  EXPECT_EQ(all[0]["budget"], 200);
  EXPECT_THAT(all[0]["source"], HasSubstr("subject.cc:"));
  EXPECT_THAT(weft("list").out, HasSubstr("an update is lost"));
}

TEST_F(CommandsTest, AFindingIsExitStatusOneAndItsLinesCanBePasted) {
  const Ran found = weft("run end/always");
  EXPECT_EQ(found.status, 1);
  EXPECT_EQ(found.err, "");
  EXPECT_THAT(found.out, AllOf(HasSubstr("no update is lost"), HasSubstr("the subject says so")));

  const std::string token = rest_of_line(found.out, " replay ");
  ASSERT_THAT(token, StartsWith("weft2."));
  const Ran again = weft("replay " + token + " --times 20");
  EXPECT_EQ(again.status, 1);
  EXPECT_THAT(again.out, HasSubstr("end/always: 20 replays, the same finding every time: always"));

  const std::string directory = rest_of_line(found.out, " report ");
  const Ran report = weft("report " + directory);
  EXPECT_EQ(report.status, 0);
  EXPECT_THAT(report.out, AllOf(HasSubstr("no update is lost"), HasSubstr("Schedule")));
  EXPECT_EQ(json::parse(weft("report --json " + directory).out)["scenario"], "end/always");
  EXPECT_EQ(weft("replay " + directory).status, 1);
}

TEST_F(CommandsTest, RunAsJson) {
  const Ran ran = weft("run end/always end/passes --json");
  EXPECT_EQ(ran.status, 1);
  const json scenarios = json::parse(ran.out)["scenarios"];
  ASSERT_EQ(scenarios.size(), 2u);
  const json& finding = scenarios[0]["findings"][0];
  EXPECT_EQ(scenarios[0]["name"], "end/always");
  EXPECT_GE(scenarios[0]["executions"], 1);
  EXPECT_EQ(finding["kind"], "always");
  EXPECT_EQ(finding["message"], "no update is lost");
  EXPECT_GE(finding["steps"], 1);
  EXPECT_TRUE(finding["preemptions"].is_number_unsigned());
  EXPECT_EQ(scenarios[1]["executions"], 50);
  EXPECT_TRUE(scenarios[1]["findings"].empty());
}

// An estimate of one is a little more than one.
TEST_F(CommandsTest, NoMoreSchedulesAreDistinctThanWereExecuted) {
  const Ran ran = weft("run end/passes --schedules 1 --json");
  EXPECT_EQ(json::parse(ran.out)["scenarios"][0]["distinct"], 1.0);
}

TEST_F(CommandsTest, ATimerIsShownAtTheTimeItJumpsTo) {
  const Ran found = weft("run end/sleeps");
  // Time begins at one second.
  EXPECT_THAT(weft("report " + rest_of_line(found.out, " report ")).out,
              HasSubstr("timer fires at 61000000000 ns"));
}

TEST_F(CommandsTest, TheSameSeedGivesTheSameToken) {
  const auto token = [&](const std::string& flags) {
    return json::parse(
        weft("run end/always --json " + flags).out)["scenarios"][0]["findings"][0]["token"];
  };
  EXPECT_EQ(token("--seed 7"), token("--seed 7"));
  EXPECT_EQ(token("--seed 7 --jobs 2"), token("--seed 7 --jobs 2"));
}

TEST_F(CommandsTest, KeepGoingFindsEveryBugAndCountsThem) {
  const Ran ran = weft("run end/two_bugs --keep-going --json");
  const json result = json::parse(ran.out)["scenarios"][0];
  EXPECT_EQ(result["executions"], 100);
  ASSERT_EQ(result["findings"].size(), 2u);
  EXPECT_NE(result["findings"][0]["message"], result["findings"][1]["message"]);
  EXPECT_GT(result["findings"][0]["hits"], 1);
}

TEST_F(CommandsTest, MarksThatNeverHeldAreNamed) {
  const Ran ran = weft("run end/marks");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("never in 50 executions: three was chosen"));
  EXPECT_THAT(ran.out, Not(HasSubstr("two was chosen")));
}

TEST_F(CommandsTest, AnInvariantThatFailsIsAFinding) {
  const Ran ran = weft("run end/invariant");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("one at a time"));
}

TEST_F(CommandsTest, WhatAnInvariantKeepsIsNoLeak) {
  const Ran ran = weft("run end/invariant_holds");
  EXPECT_EQ(ran.status, 0) << ran.out;
}

TEST_F(CommandsTest, ATaskThatDoesNotComeBackIsNamed) {
  // Standard input that never ends and never speaks.
  const Ran ran =
      run("sleep 8 | " + std::string(WEFT_SUBJECT) + " run end/hangs --hang-seconds 0.5");
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("has not come back for 0.5 s: it is in read(0, ...), called from"),
                    HasSubstr("subject.cc:"), HasSubstr("blocking input is not controlled")));
}

TEST_F(CommandsTest, AWorkerThatIsKilledIsAFinding) {
  const Ran ran = weft("run end/dies");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("SIGKILL"));
}

TEST_F(CommandsTest, TheLimitOfTheHeapIsNamedWhereItIsMet) {
  const Ran ran = weft("run end/wants_too_much");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("std::bad_alloc"),
                             HasSubstr("weft: an allocation of 2147483648 bytes failed: an "
                                       "execution's heap holds at most 1 GiB")));
}

TEST_F(CommandsTest, AMisuseOfTheApiIsAUserError) {
  const Ran ran = weft("run end/chooses_from_nothing");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("end/chooses_from_nothing: weft::choose(0)"));
}

TEST_F(CommandsTest, CheckHoldsScenariosToTheirExpectations) {
  const Ran good = weft("check end/always end/passes");
  EXPECT_EQ(good.status, 0) << good.out << good.err;
  EXPECT_THAT(good.out, HasSubstr("2 scenarios checked, 0 not as expected"));
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/weft-findings"));  // nothing unexpected

  const Ran bad = weft("check wrong/ --json");
  EXPECT_EQ(bad.status, 1);
  const json verdict = json::parse(bad.out)["scenarios"][0];
  EXPECT_EQ(verdict["expect"], "must_find deadlock");
  EXPECT_EQ(verdict["shown"], "always");
  EXPECT_EQ(verdict["as_expected"], false);
}

TEST_F(CommandsTest, NothingMatchedIsExitStatusFive) {
  const Ran ran = weft("run no_such_story");
  EXPECT_EQ(ran.status, 5);
  EXPECT_EQ(ran.err,
            "weft: no scenario matches 'no_such_story'; `" WEFT_SUBJECT " list` shows all 15\n");
  EXPECT_EQ(ran.out, "");
}

TEST_F(CommandsTest, EveryPatternMustMatch) {
  const Ran ran = weft("run end/passes no_such_story ''");
  EXPECT_EQ(ran.status, 5);
  EXPECT_THAT(ran.err, HasSubstr("no scenario matches 'no_such_story' or ''"));
}

TEST_F(CommandsTest, ASwitchTakesAValue) {
  EXPECT_EQ(
      json::parse(weft("run end/two_bugs --keep-going=0 --json").out)["scenarios"][0]["findings"]
          .size(),
      1u);
  EXPECT_THAT(weft("run end/two_bugs --keep-going=maybe").err, HasSubstr("give 1 or 0"));
}

TEST_F(CommandsTest, LinesToPasteAreQuotedWhereTheShellWants) {
  EXPECT_THAT(weft("run end/always --out 'a b'").out, HasSubstr(" report 'a b/end-always"));
  EXPECT_THAT(weft("run end/always --out=-x").out, HasSubstr(" report ./-x/end-always"));
}

TEST_F(CommandsTest, MistakesAreExitStatusTwoAndNameTheMend) {
  EXPECT_EQ(weft("").status, 2);
  const Ran command = weft("frobnicate");
  EXPECT_EQ(command.status, 2);
  EXPECT_THAT(command.err, HasSubstr("there is no command 'frobnicate'"));
  EXPECT_THAT(weft("run").err, HasSubstr("PATTERN"));
  const Ran option = weft("run --frobnicate");
  EXPECT_EQ(option.status, 2);
  EXPECT_THAT(option.err, AllOf(HasSubstr("there is no option '--frobnicate'; `"),
                                HasSubstr(" run --help` shows those there are")));
  const Ran number = weft("run end/passes --schedules many");
  EXPECT_EQ(number.status, 2);
  EXPECT_THAT(number.err, HasSubstr("--schedules: 'many' will not do; give a number from 1 up"));
  const Ran strategy = weft("run end/passes --strategy clever");
  EXPECT_EQ(strategy.status, 2);
  EXPECT_THAT(strategy.err, HasSubstr("clever"));
  const Ran variable = run("WEFT_JOBS=none " WEFT_SUBJECT " run end/passes");
  EXPECT_EQ(variable.status, 2);
  EXPECT_THAT(variable.err, HasSubstr("WEFT_JOBS"));
  EXPECT_EQ(weft("report /nowhere").status, 2);
}

TEST_F(CommandsTest, ABadTokenSaysWhichPartAndWhy) {
  const Ran nonsense = weft("replay weft1.nonsense");
  EXPECT_EQ(nonsense.status, 2);
  EXPECT_THAT(nonsense.err, HasSubstr("bad token"));

  const std::string token = rest_of_line(weft("run end/always").out, " replay ");
  std::string damaged = token;
  damaged[damaged.size() / 2] = damaged[damaged.size() / 2] == 'A' ? 'B' : 'A';
  EXPECT_EQ(weft("replay " + damaged).status, 2);
  EXPECT_EQ(weft("replay '" + token.substr(0, 20) + " \n " + token.substr(20) + "'").status, 1);
}

TEST_F(CommandsTest, ATokenOfAnotherBuildIsFollowedAsFarAsItApplies) {
  const std::string token = rest_of_line(weft("run end/rebuilt").out, " replay ");
  const std::string rebuilt = std::string(WEFT_SUBJECT_REBUILT) + " replay " + token;
  const Ran strict = run(rebuilt);
  EXPECT_EQ(strict.status, 4) << strict.out;
  EXPECT_THAT(strict.out, HasSubstr("diverged at step"));
  EXPECT_THAT(strict.err, AllOf(HasSubstr("another build"), HasSubstr("--lenient")));

  const Ran lenient = run(rebuilt + " --lenient");
  EXPECT_EQ(lenient.status, 0);
  EXPECT_THAT(
      lenient.out,
      ContainsRegex("of the token's [0-9]+ decisions, [0-9]+ followed and [1-9][0-9]* skipped"));
  EXPECT_THAT(lenient.out, HasSubstr("(the first: task 0"));
  const Ran unchanged = weft("replay --lenient " + token);
  EXPECT_THAT(unchanged.out,
              ContainsRegex("of the token's [0-9]+ decisions, [0-9]+ followed and 0 skipped\n"));
}

TEST_F(CommandsTest, WhatDoesNotComeBackIsSaidToBeNondeterministic) {
  // The fifth run is an execution of the exploration; its replay is a later run.
  const Ran ran = weft("run end/differs --json");
  EXPECT_EQ(ran.status, 1);
  const json finding = json::parse(ran.out)["scenarios"][0]["findings"][0];
  EXPECT_EQ(finding["kind"], "nondeterminism");
  EXPECT_EQ(finding["message"], "found once, but its replay differed: always: not the fifth run");
  EXPECT_EQ(weft("replay " + std::string(finding["token"])).status, 0);
}

TEST_F(CommandsTest, ADirectoryThatTakesNothingLosesNoFinding) {
  const Ran ran = weft("run end/always --out " + std::string(300, 'x'));  // too long for a name
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("this finding is not on disk"));
  EXPECT_EQ(weft("replay " + rest_of_line(ran.out, " replay ")).status, 1);
}

TEST_F(CommandsTest, AMistakeOfACheckIsTheCommandsNotEveryScenarios) {
  const Ran ran = weft("check --strategy clever");
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(weft("check end/passes --out /dev/null/x").status, 2);
}

TEST_F(CommandsTest, APlaceForFindingsIsCheckedBeforeTheRun) {
  const Ran ran = weft("run end/always --out /dev/null/findings");
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err,
              HasSubstr("findings cannot be kept in /dev/null/findings: /dev/null is not a "
                        "directory; choose another with --out"));
  EXPECT_THAT(weft("run end/always --out ''").err, HasSubstr("name a directory"));
  EXPECT_THAT(weft("run end/always --out /proc/findings").err,
              HasSubstr("findings cannot be kept in /proc/findings: /proc: "));
}

TEST_F(CommandsTest, NothingMatchedIsAnEmptyResultForMachines) {
  const Ran ran = weft("run no_such_story --json");
  EXPECT_EQ(ran.status, 5);
  EXPECT_EQ(json::parse(ran.out)["scenarios"], json::array());
  EXPECT_EQ(json::parse(weft("check no_such_story --json").out)["scenarios"], json::array());
}

TEST_F(CommandsTest, ALimitOnTimeReplacesTheBudget) {
  const Ran ran = weft("run end/passes --seconds 0.5 --json");
  EXPECT_GT(json::parse(ran.out)["scenarios"][0]["executions"], 50);
  const Ran both = weft("run end/passes --seconds 60 --schedules 10 --json");
  EXPECT_EQ(json::parse(both.out)["scenarios"][0]["executions"], 10);
}

TEST_F(CommandsTest, TheClockEndsARun) {
  const Ran ran = weft("run endless --seconds 0.3 --json");
  EXPECT_EQ(ran.status, 0);
  EXPECT_GT(json::parse(ran.out)["scenarios"][0]["executions"], 10);
}

TEST_F(CommandsTest, CtrlCEndsARunAndLeavesNobodyBehind) {
  const Ran ran = run("timeout -s INT 1 " WEFT_SUBJECT " run endless --jobs 2");
  // timeout reports 124 for a program that it had to signal.
  EXPECT_EQ(ran.status, 124);
  EXPECT_THAT(ran.out, HasSubstr(", interrupted"));
}

TEST_F(CommandsTest, ATerminatedProcessGroupIsNoFinding) {
  // timeout signals its group as well: the workers, were they in it.
  const Ran ran = run("timeout -s TERM 1 " WEFT_SUBJECT " run endless --jobs 2");
  EXPECT_EQ(ran.status, 124);
  EXPECT_THAT(ran.out, AllOf(HasSubstr(": no finding in "), HasSubstr(", interrupted")));
}

TEST_F(CommandsTest, DoctorExplainsThisMachine) {
  const Ran ran = weft("doctor --json");
  EXPECT_EQ(ran.status, 0);
  bool instrumented = false;
  const json facts = json::parse(ran.out)["facts"];
  for (const json& fact : facts) {
    if (fact["topic"] == "instrumentation") instrumented = fact["works"];
  }
  EXPECT_TRUE(instrumented) << ran.out;
}

TEST_F(CommandsTest, TheFastExecutorWorksHere) {
  const Ran ran = weft("doctor --json");
  for (const json& fact : json::parse(ran.out)["facts"]) {
    if (fact["topic"] != "executor") continue;
    EXPECT_TRUE(fact["works"]) << fact["text"];
    EXPECT_THAT(fact["text"].get<std::string>(), HasSubstr("alias"));
  }
}

TEST_F(CommandsTest, EveryExecutorFindsTheSameWithTheSameToken) {
  std::set<std::string> tokens;
  for (const char* executor : {"auto", "alias", "baton", "fresh"}) {
    const Ran ran = weft(std::string("run end/always --json --executor ") + executor);
    EXPECT_EQ(ran.status, 1) << ran.err;
    tokens.insert(json::parse(ran.out)["scenarios"][0]["findings"][0]["token"]);
  }
  EXPECT_EQ(tokens.size(), 1u);
  EXPECT_EQ(weft("run end/always --executor bacon").status, 2);
}

TEST_F(CommandsTest, WhatTheFastExecutorCannotServeRunsOnTheOther) {
  const Ran by_default = run(WEFT_DIRECT_SUBJECT " run direct/own_visits");
  EXPECT_EQ(by_default.status, 0) << by_default.out << by_default.err;
  EXPECT_THAT(by_default.err, HasSubstr("the slower baton executor is used: "));
  EXPECT_THAT(by_default.err, HasSubstr("-mno-tls-direct-seg-refs"));
  const Ran demanded = run(WEFT_DIRECT_SUBJECT " run direct/own_visits --executor alias");
  EXPECT_EQ(demanded.status, 2);
  EXPECT_THAT(demanded.err, HasSubstr("take baton"));
  EXPECT_EQ(run(WEFT_DIRECT_SUBJECT " run direct/own_visits --executor baton").err, "");
}

TEST_F(CommandsTest, HelpTeachesByExample) {
  for (const char* command : {"", "run ", "check ", "replay ", "report "}) {
    const Ran ran = weft(std::string(command) + "--help");
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.out, HasSubstr("Example")) << command;
  }
  EXPECT_THAT(weft("run --help").out, HasSubstr("portfolio"));
}

}  // namespace
}  // namespace weft::cli
