// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Goal: gdb shows each task as a thread with its own, whole stack, at a finding and before a step,
// under either executor. Method: `weft replay --gdb` with gdb in batch mode, on gdb_subject.cc; the
// steps are looked up in the trace.

#include <gmock/gmock.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "harness/cli/subject/run_program.h"

namespace weft::cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

/// Empty where gdb is there and may trace, else what is missing.
std::string why_no_gdb() {
  if (std::system("command -v gdb >/dev/null 2>&1") != 0)
    return "gdb is not installed: install the package gdb";
  // Containers may forbid ptrace altogether.
  if (std::system("gdb -nx -batch -ex run /bin/true </dev/null 2>/dev/null | "
                  "grep -q 'exited normally'") != 0)
    return "gdb may not trace a process here: ptrace is forbidden";
  return {};
}

class GdbTest : public ProgramTest {
 protected:
  void SetUp() override {
    static const std::string missing = why_no_gdb();
    if (!missing.empty()) GTEST_SKIP() << missing;
  }

  [[nodiscard]] Ran weft(const std::string& arguments) const {
    return run(std::string(WEFT_GDB_SUBJECT) + " " + arguments);
  }

  /// Explores it; returns the finding's directory.
  [[nodiscard]] std::string find(const std::string& scenario, const std::string& flags = "") const {
    const Ran ran = weft("run " + scenario + " --json " + flags);
    EXPECT_EQ(ran.status, 1) << ran.err;
    return json::parse(ran.out)["scenarios"][0]["findings"][0]["directory"];
  }

  /// gdb without the user's settings, in batch mode.
  [[nodiscard]] Ran debug(const std::string& finding, const std::string& flags,
                          const std::vector<std::string>& commands) const {
    std::string line = "replay " + finding + " --gdb " + flags + " -- -nx -batch";
    for (const std::string& command : commands) line += " -ex '" + command + "'";
    const Ran ran = weft(line);
    EXPECT_THAT(ran.out + ran.err, Not(HasSubstr("corrupt")));
    return ran;
  }

  /// The step of the first event of that operation by that task.
  [[nodiscard]] int step_of(const std::string& finding, const std::string& task,
                            const std::string& operation) const {
    const json trace = json::parse(weft("report --json " + finding).out);
    for (const json& event : trace["schedule"]) {
      if (event["task"] == task && event["operation"] == operation) return event["step"];
    }
    ADD_FAILURE() << "no " << operation << " by task " << task << " in " << trace["schedule"];
    return 0;
  }
};

/// What gdb says of the thread of that name in `thread apply all backtrace`.
std::string stack_of(const std::string& output, const std::string& name) {
  const std::regex heading("\nThread [0-9.]+ \\([^\n]*\"" + name + "\"\\):\n");
  std::smatch found;
  if (!std::regex_search(output, found, heading)) {
    ADD_FAILURE() << "no thread " << name << " in " << output;
    return {};
  }
  const std::string rest = found.suffix();
  return rest.substr(0, rest.find("\n\n"));
}

/// The function of the outermost frame.
std::string end_of(const std::string& stack) {
  const std::size_t last = stack.rfind("\n#");
  return last == std::string::npos ? stack : stack.substr(last + 1);
}

/// For both ways in which a task can have its processor.
class GdbTestOfExecutor : public GdbTest, public testing::WithParamInterface<const char*> {
 protected:
  [[nodiscard]] std::string executor() const { return std::string(" --executor ") + GetParam(); }
  [[nodiscard]] bool is_alias() const { return std::string(GetParam()) == "alias"; }
};

INSTANTIATE_TEST_SUITE_P(, GdbTestOfExecutor, testing::Values("baton", "alias"),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST_P(GdbTestOfExecutor, ADeadlockShowsEachTasksOwnStack) {
  const Ran ran = debug(find("gdb/deadlock"), executor(), {"thread apply all backtrace"});
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_THAT(ran.out, AllOf(ContainsRegex("\"task 0\\.[01]\" hit Breakpoint 1, weft_stop_for"),
                             HasSubstr("deadlock: tasks wait for each other in a cycle"),
                             HasSubstr("gdb/deadlock: left in gdb\n")));

  const std::string root = stack_of(ran.out, "task 0");
  EXPECT_THAT(root, AllOf(ContainsRegex("wait_for_both .*gdb_subject.cc"),
                          ContainsRegex("deadlock .*gdb_subject.cc"), Not(HasSubstr("take"))));
  const std::string one = stack_of(ran.out, "task 0.0");
  EXPECT_THAT(one, AllOf(ContainsRegex("pthread_mutex_lock|weft::intercept::lock"),
                         ContainsRegex("take .*gdb_subject.cc"), HasSubstr("take_left_first"),
                         Not(HasSubstr("take_right_first"))));
  const std::string other = stack_of(ran.out, "task 0.1");
  EXPECT_THAT(other, AllOf(ContainsRegex("pthread_mutex_lock|weft::intercept::lock"),
                           ContainsRegex("take .*gdb_subject.cc"), HasSubstr("take_right_first"),
                           Not(HasSubstr("take_left_first"))));
  for (const std::string& stack : {root, one, other}) {
    EXPECT_THAT(end_of(stack), HasSubstr("weft_call_on_stack"));
  }

  const std::string own = stack_of(ran.out, "weft");
  EXPECT_THAT(own, AllOf(HasSubstr(is_alias() ? "Alias::" : "Baton::"), HasSubstr("Execution::run"),
                         HasSubstr("run_worker")));
  EXPECT_THAT(end_of(own), HasSubstr("_start"));
}

TEST_P(GdbTestOfExecutor, ContinueEndsTheReplayWithItsFinding) {
  const Ran ran = debug(find("gdb/deadlock"), executor(), {"continue"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("gdb/deadlock: went on to its finding: deadlock\n"));
}

TEST_P(GdbTestOfExecutor, BeforeAStepItHasNotHappened) {
  const std::string finding = find("gdb/published");
  const int step = step_of(finding, "0.0", "atomic store");
  const Ran before = debug(finding, "--at " + std::to_string(step) + executor(),
                           {"print published._M_i", "thread apply all backtrace", "continue"});
  EXPECT_EQ(before.status, 1) << before.err;
  EXPECT_THAT(before.out, AllOf(HasSubstr("weft_stop_for_debugger (step=" + std::to_string(step)),
                                HasSubstr("\"0.0\", operation="), HasSubstr("atomic store"),
                                HasSubstr("\n$1 = 0\n")));
  EXPECT_THAT(stack_of(before.out, "task 0.0"),
              AllOf(HasSubstr("weft_stop_for_debugger"), HasSubstr("publish ()")));
  EXPECT_THAT(stack_of(before.out, "task 0"), HasSubstr("published_early ()"));
  EXPECT_THAT(stack_of(before.out, "weft"),
              AllOf(HasSubstr(is_alias() ? "Alias::" : "Baton::"), HasSubstr("run_worker")));
  // Under the alias executor nobody else can go on.
  EXPECT_THAT(before.out,
              HasSubstr(is_alias() ? "take --executor baton" : "goes on to the finding"));
  EXPECT_THAT(before.out, HasSubstr(is_alias() ? "gdb/published: left in gdb\n"
                                               : "always: nothing is published yet"));

  const Ran after =
      debug(finding, "--at " + std::to_string(step + 1) + executor(), {"print published._M_i"});
  EXPECT_THAT(after.out, HasSubstr("\n$1 = 7\n"));
}

TEST_P(GdbTestOfExecutor, StepsOfTheTimerAndOfATestThatAlwaysFails) {
  const std::string finding = find("gdb/sleeps");
  const Ran ran = debug(
      finding, "--at " + std::to_string(step_of(finding, "timer", "timer fires")) + executor(),
      {"thread apply all backtrace"});
  EXPECT_THAT(ran.out, AllOf(HasSubstr("\"timer\", operation="), HasSubstr("timer fires")));
  EXPECT_THAT(stack_of(ran.out, "task 0.0"), HasSubstr("sleep_for"));
}

TEST_P(GdbTestOfExecutor, ACrashIsShownFromItsInstructionOutwards) {
  const Ran ran =
      debug(find("gdb/crashes"), executor(), {"thread apply all backtrace", "continue"});
  EXPECT_THAT(stack_of(ran.out, "task 0.0"),
              AllOf(HasSubstr("<signal handler called>"), HasSubstr("crash_on (nothing=")));
  EXPECT_THAT(stack_of(ran.out, "task 0"), HasSubstr("crashes ()"));
  EXPECT_THAT(ran.out, HasSubstr("went on to its finding: fatal_signal"));
}

TEST_P(GdbTestOfExecutor, AStackThatOverflowedAndATaskThatSpins) {
  const Ran overflow = debug(find("gdb/overflows"), executor(),
                             {"thread name", "backtrace -4", "thread apply all backtrace 3"});
  EXPECT_THAT(overflow.out,
              AllOf(HasSubstr("the task's stack overflowed"), HasSubstr("weft_call_on_stack")));
  const std::string hang = find("gdb/spins", "--hang-seconds 0.5");
  const Ran spins = debug(hang, "--hang-seconds 0.5" + executor(), {"backtrace"});
  EXPECT_THAT(spins.out, AllOf(HasSubstr("hang: "), HasSubstr("spins()::")));
}

TEST_P(GdbTestOfExecutor, WhatTheControllerFindsIsShownAsWell) {
  const Ran ran = debug(find("gdb/leaks"), executor(), {"thread apply all backtrace", "continue"});
  EXPECT_THAT(ran.out, AllOf(HasSubstr("\"weft\" hit Breakpoint 1"), HasSubstr("leak: nothing")));
  EXPECT_THAT(stack_of(ran.out, "0.0 ended"), Not(HasSubstr("gdb_subject.cc")));
}

TEST_P(GdbTestOfExecutor, ATaskThatWasDroppedIsShownWhereItStood) {
  const Ran ran = debug(find("gdb/forgets_beside_a_waiter"), executor(),
                        {"thread apply all backtrace", "continue"});
  EXPECT_THAT(stack_of(ran.out, "task 0.0"), HasSubstr("forgets_beside_a_waiter()::"));
  EXPECT_THAT(ran.out, HasSubstr("went on to its finding: thread_leak"));
}

TEST_P(GdbTestOfExecutor, WhoExploresUnderADebuggerStopsAtTheFinding) {
  const Ran ran = run(
      "gdb -nx -batch -ex 'set follow-fork-mode child' "
      "-ex 'break weft_stop_for_debugger' -ex run "
      "-ex 'thread apply all backtrace' -ex continue --args " WEFT_GDB_SUBJECT " run gdb/deadlock" +
      executor());
  EXPECT_THAT(stack_of(ran.out, "task 0.0"), HasSubstr("take_left_first"));
  EXPECT_THAT(stack_of(ran.out, "task 0.1"), HasSubstr("take_right_first"));
  EXPECT_THAT(stack_of(ran.out, "weft"), HasSubstr(is_alias() ? "Alias::" : "Baton::"));
  EXPECT_THAT(ran.out + ran.err, Not(HasSubstr("corrupt")));
}

TEST_F(GdbTest, AnExecutionGoesOnAfterAStopUnlessToldOtherwise) {
  const Ran ran = debug(find("gdb/deadlock"), "--at 1",
                        {"break take_right_first", "continue", "info threads", "continue"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("\"task 0.1\" hit Breakpoint 2"),
                             HasSubstr("deadlock: tasks wait for each other in a cycle")));
}

TEST_F(GdbTest, AGoogleTestProgramStopsAtItsReplaysFinding) {
  const std::string program = WEFT_GTEST_SUBJECT;
  const std::string token = rest_of_line(
      run(program + " --gtest_filter=Counter.FailsOnAnotherThread").out, "--weft_replay=");
  // As docs/debugging.md has it.
  const Ran ran =
      run("gdb -nx -batch -ex 'set follow-fork-mode child' "
          "-ex 'break weft_stop_for_debugger' -ex run "
          "-ex 'thread apply all backtrace' -ex continue --args " +
          program + " --weft_replay=" + token);
  EXPECT_THAT(ran.out, HasSubstr("expectation: Expected equality of these values"));
  EXPECT_THAT(stack_of(ran.out, "task 0.0"), HasSubstr("gtest_subject.cc"));
  EXPECT_THAT(stack_of(ran.out, "task 0"), HasSubstr("Counter_FailsOnAnotherThread"));
}

TEST_F(GdbTest, WhatCannotBeIsToldInOneLine) {
  const std::string finding = find("gdb/deadlock");
  const Ran beyond = debug(finding, "--at 1000", {});
  EXPECT_EQ(beyond.status, 2);
  EXPECT_THAT(beyond.err, ContainsRegex("^weft: --at 1000: the replay has [0-9]+ steps\n$"));
  EXPECT_EQ(weft("replay " + finding + " --at 1").status, 2);
  EXPECT_EQ(weft("replay " + finding + " -- -batch").status, 2);

  const Ran absent = run("WEFT_GDB=no-such-gdb " WEFT_GDB_SUBJECT " replay " + finding + " --gdb");
  EXPECT_EQ(absent.status, 2);
  EXPECT_EQ(absent.err, "weft: WEFT_GDB: there is no program 'no-such-gdb'\n");
  const Ran nowhere = run("PATH=/none " WEFT_GDB_SUBJECT " replay " + finding + " --gdb");
  EXPECT_EQ(nowhere.status, 2);
  EXPECT_EQ(nowhere.err,
            "weft: gdb is not installed: install the package gdb, or name it by WEFT_GDB\n");
  EXPECT_EQ(nowhere.out, "");

  const Ran dead = debug(find("gdb/dies"), "", {"backtrace"});
  EXPECT_EQ(dead.status, 1);
  EXPECT_THAT(dead.out, HasSubstr("gdb/dies: nothing is left for gdb to look at: the worker"));
}

}  // namespace
}  // namespace weft::cli
