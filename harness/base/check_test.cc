// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: a failed check says where and why on descriptor 2, runs the hook once, and exits with
// status 3. Method: death tests, which run the failing statement in a child process.

#include "harness/base/check.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace weft {
namespace {

void say_last_words() noexcept {
  constexpr char kText[] = "schedule saved\n";
  (void)!::write(STDERR_FILENO, kText, sizeof kText - 1);
}

void fail_again() noexcept {
  say_last_words();
  WEFT_CHECK(false, "the hook failed too");
}

TEST(CheckTest, PassingCheckEvaluatesItsConditionOnce) {
  int evaluated = 0;
  WEFT_CHECK(++evaluated == 1, "evaluated twice");
  EXPECT_EQ(evaluated, 1);
}

TEST(CheckDeathTest, NamesPlaceCauseAndCondition) {
  EXPECT_EXIT(WEFT_CHECK(1 + 1 == 3, "arithmetic is broken"),
              testing::ExitedWithCode(kInternalErrorExit),
              "^weft: internal error: .*check_test\\.cc:[0-9]+: arithmetic is broken \\(1 \\+ 1 == "
              "3\\)\n$");
}

TEST(CheckDeathTest, RunsTheHookAfterTheLine) {
  EXPECT_EXIT(
      {
        set_last_words(say_last_words);
        WEFT_CHECK(false, "cause");
      },
      testing::ExitedWithCode(3), "cause \\(false\\)\nschedule saved\n$");
}

TEST(CheckDeathTest, HookThatFailsIsNotEnteredAgain) {
  EXPECT_EXIT(
      {
        set_last_words(fail_again);
        WEFT_CHECK(false, "first");
      },
      testing::ExitedWithCode(3), "first .*\nschedule saved\n.*the hook failed too .*\n$");
}

TEST(CheckDeathTest, UnreachableSaysSo) {
  EXPECT_EXIT(WEFT_UNREACHABLE("bad kind"), testing::ExitedWithCode(3),
              "bad kind \\(unreachable\\)");
}

}  // namespace
}  // namespace weft
