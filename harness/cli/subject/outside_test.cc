// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: what a task may not do outside of the test, and the ends that puzzle, are said by name in
// one line. Method: runs subject/outside_subject.cc as a user does and looks for the line.

#include <gmock/gmock.h>

#include "harness/cli/subject/run_program.h"

namespace weft::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class OutsideTest : public ProgramTest {
 protected:
  void expect(const std::string& scenario, const std::string& line) const {
    const Ran ran = run(std::string(WEFT_OUTSIDE_SUBJECT) + " run outside/" + scenario);
    EXPECT_EQ(ran.status, 1) << scenario;
    EXPECT_THAT(ran.out, HasSubstr("\n  " + line + "\n"));
  }
};

TEST_F(OutsideTest, OtherProgramsAreNamed) {
  const auto unsupported = [this](const std::string& scenario, const std::string& what) {
    const Ran ran = run(std::string(WEFT_OUTSIDE_SUBJECT) + " run outside/" + scenario);
    EXPECT_EQ(ran.status, 2) << scenario;
    EXPECT_THAT(ran.err, HasSubstr(": " + what +
                                   " is not controlled yet: keep it out of the explored code, or "
                                   "stub it in the test\n"));
  };
  unsupported("execl", "execl()");
  unsupported("execve", "execve()");
  unsupported("execve_by_number", "execve by syscall()");
  unsupported("system", "system()");
  unsupported("popen", "popen()");
  unsupported("posix_spawn", "posix_spawn()");
  unsupported("alarm", "alarm()");
  unsupported("timerfd", "timerfd_create()");
}

TEST_F(OutsideTest, WhatOnlyTheOutsideCanEndIsNamed) {
  const auto hangs = [this](const std::string& scenario, const std::string& line) {
    const Ran ran =
        run(std::string(WEFT_OUTSIDE_SUBJECT) + " run outside/" + scenario + " --hang-seconds 0.5");
    EXPECT_EQ(ran.status, 1) << scenario;
    EXPECT_THAT(ran.out, testing::ContainsRegex(line));
  };
  hangs("polls",
        "task 0\\.0 has not come back for 0\\.5 s: it is in ppoll\\(\\.\\.\\.\\), called from "
        ".*outside_subject\\.cc:[0-9]+; no task makes any of its descriptors ready");
  hangs("prints",
        "task 0\\.0 has not come back for 0\\.5 s: it is in futex\\(\\.\\.\\.\\), called from "
        ".*outside_subject\\.cc:[0-9]+; .* a lock inside libc, such as that of a FILE");
}

TEST_F(OutsideTest, ASignalThatEndsTheProcessHasASender) {
  expect("sigterm",
         "the worker process vanished: killed by SIGTERM, which the test itself, or somebody "
         "outside, sent to it");
  expect("sigalrm",
         "the worker process vanished: killed by SIGALRM: a timer that the test started ran out; "
         "such timers run in real time, which is not controlled");
}

TEST_F(OutsideTest, AnAbortHasNoAddress) {
  const Ran ran = run(std::string(WEFT_OUTSIDE_SUBJECT) + " run outside/sigabrt");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("fatal signal SIGABRT\n"), HasSubstr("  signal 6\n"),
                             Not(HasSubstr("address"))));
}

TEST_F(OutsideTest, ATerminateSaysWhatMayHaveCalledIt) {
  expect(
      "joinable_destroyed",
      "std::terminate() called with no exception in flight: a joinable std::thread was destroyed "
      "or assigned to");
  expect("terminate", "std::terminate() called with no exception in flight");
}

}  // namespace
}  // namespace weft::cli
