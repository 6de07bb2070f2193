// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Goal: a PATTERN means what a shell user expects. Method: tables, decided at compile time where
// possible.

#include "harness/api/pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace weft {
namespace {

static_assert(glob_matches("*", ""));
static_assert(glob_matches("a*c", "abbbc"));
static_assert(glob_matches("a*b*c", "a-b-b-c"));
static_assert(glob_matches("*/lost_update.*", "classic/lost_update.buggy"));
static_assert(glob_matches("????", "abcd"));
static_assert(!glob_matches("????", "abc"));
static_assert(!glob_matches("a*c", "abcd"));
static_assert(!glob_matches("", "a"));

TEST(Pattern, WithoutStarsMatchesAnyPart) {
  EXPECT_TRUE(pattern_matches("lost", "classic/lost_update.buggy"));
  EXPECT_TRUE(pattern_matches("classic/lost_update.buggy", "classic/lost_update.buggy"));
  EXPECT_TRUE(pattern_matches("", "anything"));
  EXPECT_FALSE(pattern_matches("found", "classic/lost_update.buggy"));
}

TEST(Pattern, WithStarsMatchesTheWholeName) {
  EXPECT_TRUE(pattern_matches("*.buggy", "classic/lost_update.buggy"));
  EXPECT_FALSE(pattern_matches("*.bug", "classic/lost_update.buggy"));
}

TEST(Pattern, ManyStarsTakeNoExponentialTime) {
  const std::string text(200, 'a');
  EXPECT_FALSE(glob_matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
}

}  // namespace
}  // namespace weft
