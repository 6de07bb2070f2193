// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Goal: what people read is worded right. Method: golden texts.

#include "harness/cli/terminal.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace weft::cli {
namespace {

TEST(Wording, NumbersHaveCommas) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(12'345'678), "12,345,678");
}

TEST(Wording, NounsAgreeWithTheirCount) {
  EXPECT_EQ(counted(0, "finding"), "0 findings");
  EXPECT_EQ(counted(1, "finding"), "1 finding");
  EXPECT_EQ(counted(1000, "execution"), "1,000 executions");
}

TEST(Wording, SecondsHaveThePrecisionTheyDeserve) {
  EXPECT_EQ(seconds_text(0.01234), "0.012 s");
  EXPECT_EQ(seconds_text(3.44), "3.4 s");
  EXPECT_EQ(seconds_text(75.3), "75 s");
}

TEST(Wording, ALineOfProgress) {
  EXPECT_EQ(
      progress_text(
          "classic/lost_update.buggy",
          {.executions = 12345, .steps = 100, .seconds = 2, .distinct = 3210.4, .findings = 1}),
      "classic/lost_update.buggy: 12,345 executions, 6,172/s, about 3,210 distinct, 1 finding");
}

TEST(Styles, NothingButATerminalIsColoured) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_FALSE(is_coloured(ends[1]));
  EXPECT_EQ(styled("text", Style::kRed, ends[1]), "text");
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace weft::cli
