// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Goal: a race is reported once or suppressed with a reason, what lies behind it is found as well,
// and every token leads to its own finding. Method: runs subject/race_subject.cc as a user does.

#include <gmock/gmock.h>

#include <fstream>
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

constexpr char kBoth[] =
    "# Visits are for humans.\n"
    "race:note_visit\n"
    "# So is the total.\n"
    "race:^total$\n";

class RacesTest : public ProgramTest {
 protected:
  [[nodiscard]] Ran weft(const std::string& arguments) const {
    return run(std::string(WEFT_RACE_SUBJECT) + " " + arguments);
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ + "/" + name) << text;
  }

  /// The token leads to a finding of that kind and message, each time.
  void expect_replays(const json& finding) const {
    const Ran ran = weft("replay --times 5 --json " + finding["token"].get<std::string>());
    EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
    const json replayed = json::parse(ran.out);
    EXPECT_EQ(replayed["same"], 5);
    EXPECT_EQ(replayed["finding"]["kind"], finding["kind"]);
    EXPECT_EQ(replayed["finding"]["message"], finding["message"]);
  }
};

TEST_F(RacesTest, KeepGoingReportsEachRaceOnceAndThenTheBugBehindThem) {
  for (const char* jobs : {"1", "2"}) {
    const Ran ran = weft(std::string("run race/two_and_a_bug --keep-going --json --jobs ") + jobs);
    EXPECT_EQ(ran.status, 1);
    const json result = json::parse(ran.out)["scenarios"][0];
    std::multiset<std::string> kinds;
    std::set<std::string> reports;
    for (const json& finding : result["findings"]) {
      kinds.insert(finding["kind"].get<std::string>());
      reports.insert(finding["directory"].get<std::string>());
      EXPECT_GT(finding["hits"], 1) << finding;
      expect_replays(finding);
    }
    EXPECT_THAT(kinds, testing::ElementsAre("always", "data_race", "data_race"));
    EXPECT_EQ(reports.size(), 3u);
    EXPECT_EQ(result["executions"], 300);
  }
}

TEST_F(RacesTest, WhatIsSuppressedIsPassedOverAlsoByTheTokenOfALaterFinding) {
  write("weft.supp", kBoth);
  const Ran ran = weft("run race/two_and_a_bug --suppressions weft.supp --json");
  EXPECT_EQ(ran.status, 1) << ran.err;
  const json all = json::parse(ran.out);
  const json& findings = all["scenarios"][0]["findings"];
  ASSERT_EQ(findings.size(), 1u) << ran.out;
  EXPECT_EQ(findings[0]["kind"], "always");
  EXPECT_EQ(findings[0]["message"], "the other comes second");
  expect_replays(findings[0]);  // knows nothing of weft.supp

  for (const json& suppressions : {all["suppressions"], all["scenarios"][0]["suppressed"]}) {
    ASSERT_EQ(suppressions.size(), 2u);
    EXPECT_EQ(suppressions[0]["entry"], "race:note_visit");
    EXPECT_EQ(suppressions[0]["place"], "weft.supp:2");
    EXPECT_EQ(suppressions[0]["reason"], "Visits are for humans.");
    EXPECT_GE(suppressions[0]["hits"], 1);
    EXPECT_GE(suppressions[1]["hits"], 1);
  }
}

TEST_F(RacesTest, TheOtherRaceIsStillFound) {
  write("weft.supp", "# Visits are for humans.\nrace:note_visit\n");
  const json result =
      json::parse(weft("run race/two_and_a_bug --keep-going --suppressions weft.supp --json").out);
  std::multiset<std::string> kinds;
  for (const json& finding : result["scenarios"][0]["findings"]) {
    kinds.insert(finding["kind"].get<std::string>());
    expect_replays(finding);
  }
  EXPECT_THAT(kinds, testing::ElementsAre("always", "data_race"));
}

TEST_F(RacesTest, HitsArePrintedAndEntriesThatWereNotNeededNamed) {
  write("weft.supp", std::string(kBoth) + "# Long gone.\nrace:old_code\n");
  const Ran ran = weft("run race/one --suppressions weft.supp");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("race/one: no finding in 100 executions"));
  EXPECT_THAT(ran.out, AllOf(ContainsRegex("suppressed [0-9]+ times?: "),
                             HasSubstr("race:note_visit (weft.supp:2: Visits are for humans.)")));
  EXPECT_EQ(ran.err,
            "weft: weft.supp:4: 'race:^total$' suppressed nothing\n"
            "weft: weft.supp:6: 'race:old_code' suppressed nothing\n");
  // Whoever needed it: the file is for all scenarios of a run together.
  const Ran check =
      run("WEFT_SUPPRESSIONS=weft.supp " WEFT_RACE_SUBJECT " check race/one race/tw*");
  EXPECT_EQ(check.err, "weft: weft.supp:6: 'race:old_code' suppressed nothing\n");
  EXPECT_THAT(check.out, HasSubstr("race:^total$ (weft.supp:4: So is the total.)"));
}

TEST_F(RacesTest, EveryFrameOfEitherSideCounts) {
  // A closure's operator() is all that g++'s debug information says of its name.
  for (const char* pattern :
       {"visit_twice", "race_subject.cc$", "bin/weft_race_subject", "operator()", "^visits$"}) {
    write("weft.supp", std::string("# Known.\nrace:") + pattern + "\n");
    const json all = json::parse(
        weft("run race/two_and_a_bug --keep-going --suppressions weft.supp --json").out);
    EXPECT_GE(all["suppressions"][0]["hits"], 1) << pattern;
  }
}

TEST_F(RacesTest, AnAtomicAccessAcquiresBeforeItIsHeldAgainstEarlierOnes) {
  const Ran ran = weft("run race/published_by_itself");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, Not(HasSubstr("never in")));
}

TEST_F(RacesTest, TheAtomicsThatNearlyOrderedItAreNamed) {
  const struct {
    const char* scenario;
    const char* store;
    const char* load;
    const char* mend;
  } cases[] = {
      {"race/relaxed_store", "(relaxed)", "(acquire)", "if the store released."},
      {"race/relaxed_load", "(release)", "(relaxed)", "if the load acquired."},
      {"race/fenced_store", "(relaxed)", "(relaxed)", "if the load acquired."},
      {"race/relaxed_both", "(relaxed)", "(relaxed)",
       "if the store released and the load acquired."},
  };
  for (const auto& tried : cases) {
    const Ran ran = weft(std::string("run ") + tried.scenario);
    EXPECT_EQ(ran.status, 1);
    const std::string store = rest_of_line(ran.out, "task 0.0: atomic store ");
    EXPECT_THAT(store,
                AllOf(HasSubstr("ready"), HasSubstr(tried.store), HasSubstr("race_subject.cc:")))
        << ran.out;
    const std::string load = rest_of_line(ran.out, "task 0: atomic load ");
    EXPECT_THAT(load,
                AllOf(HasSubstr("ready"), HasSubstr(tried.load), HasSubstr("race_subject.cc:")));
    EXPECT_THAT(ran.out, HasSubstr(std::string("They would be in order ") + tried.mend));
  }
}

TEST_F(RacesTest, WhereNoAtomicWasBetweenNoneIsNamed) {
  EXPECT_THAT(weft("run race/one").out, Not(HasSubstr("They would be in order")));
  const Ran ran = weft("run race/overwritten_flag");
  EXPECT_THAT(ran.out, AllOf(HasSubstr("data race"), Not(HasSubstr("They would be in order"))));
}

TEST_F(RacesTest, AnIncrementAgainstItselfIsOneRaceToItsReader) {
  for (const char* strategy : {"portfolio", "random", "pos"}) {
    const json result = json::parse(weft(std::string("run race/increments --keep-going --json "
                                                     "--strategy ") +
                                         strategy)
                                        .out)["scenarios"][0];
    ASSERT_EQ(result["findings"].size(), 1u) << strategy << result;
    EXPECT_GT(result["findings"][0]["hits"], 1);
    EXPECT_EQ(result["executions"], 300);
    expect_replays(result["findings"][0]);
  }
}

TEST_F(RacesTest, BothOfItsIdentitiesAreSuppressedByOneEntry) {
  write("weft.supp", "# Known.\nrace:note_hit\n");
  const Ran ran = weft("run race/increments --keep-going --suppressions weft.supp --json");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_GT(json::parse(ran.out)["suppressions"][0]["hits"], 1);
}

TEST_F(RacesTest, TwoVariablesOnOneLineAreTwoRaces) {
  const json result =
      json::parse(weft("run race/two_on_a_line --keep-going --json").out)["scenarios"][0];
  EXPECT_EQ(result["findings"].size(), 2u) << result;
}

TEST_F(RacesTest, ASuppressedDeadlockIsCountedAndTheExplorationGoesOn) {
  EXPECT_EQ(weft("run race/deadlock").status, 1);
  write("weft.supp", "# Never at the same time outside this test.\ndeadlock:lock_both\n");
  const Ran ran = weft("run race/deadlock --suppressions weft.supp --json");
  EXPECT_EQ(ran.status, 0) << ran.out;
  const json all = json::parse(ran.out);
  EXPECT_EQ(all["scenarios"][0]["executions"], 300);
  EXPECT_GT(all["suppressions"][0]["hits"], 1);
}

TEST_F(RacesTest, AFileWithAMistakeIsExitStatusTwoAndOneLine) {
  write("weft.supp", "race:note_visit\n");
  const Ran ran = weft("run 'race/*' --suppressions weft.supp");
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err,
            "weft: weft.supp:1: 'race:note_visit' has no reason; give it in a comment (# ...) on "
            "the line above\n");
  EXPECT_EQ(weft("check --suppressions none.supp").status, 2);
  EXPECT_THAT(weft("run race/one --suppressions none.supp").err,
              AllOf(HasSubstr("cannot open none.supp"), Not(HasSubstr("race/one"))));
}

}  // namespace
}  // namespace weft::cli
