// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Goal: patterns match what ThreadSanitizer's would, every entry has its reason, and a file with a
// mistake is refused in one line that names the place. Method: files as text.

#include "harness/cli/suppressions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::cli {
namespace {

using testing::HasSubstr;
using trace::FindingKind;

TEST(SuppressionPattern, MatchesAnywhereUnlessTied) {
  EXPECT_TRUE(suppression_matches("hits", "Cache::hits()"));
  EXPECT_FALSE(suppression_matches("Hits", "Cache::hits()"));
  EXPECT_TRUE(suppression_matches("^Cache", "Cache::hits()"));
  EXPECT_FALSE(suppression_matches("^hits", "Cache::hits()"));
  EXPECT_TRUE(suppression_matches("hits()$", "Cache::hits()"));
  EXPECT_FALSE(suppression_matches("Cache$", "Cache::hits()"));
  EXPECT_TRUE(suppression_matches("^Cache::hits()$", "Cache::hits()"));
  EXPECT_FALSE(suppression_matches("^Cache::hits$", "Cache::hits()"));
}

TEST(SuppressionPattern, StarsStandForAnything) {
  EXPECT_TRUE(suppression_matches("*", ""));
  EXPECT_TRUE(suppression_matches("Cache*hits", "Cache<int>::hits()"));
  EXPECT_FALSE(suppression_matches("hits*Cache", "Cache<int>::hits()"));
  EXPECT_TRUE(suppression_matches("^Cache*()$", "Cache<int>::hits()"));
  EXPECT_FALSE(suppression_matches("^Cache*()$", "Cache<int>::hits() const"));
  EXPECT_TRUE(suppression_matches("^a*b*b$", "abcbb"));
  EXPECT_FALSE(suppression_matches("^a*b*b$", "ab"));  // one b is not two
  EXPECT_TRUE(suppression_matches("*/include/boost/*", "/usr/include/boost/lockfree/queue.hpp"));
}

TEST(SuppressionPattern, WhatGlobsKnowAndTheseDoNotIsTakenAsItIs) {
  EXPECT_TRUE(suppression_matches("operator[]", "Table::operator[](int)"));
  EXPECT_FALSE(suppression_matches("hit?", "Cache::hits()"));
  EXPECT_FALSE(suppression_matches("h.ts", "Cache::hits()"));
}

Suppressions parsed(std::string_view text) {
  auto outcome = Suppressions::parse("weft.supp", text);
  EXPECT_TRUE(outcome) << outcome.error();
  return outcome ? *outcome : Suppressions();
}

TEST(SuppressionFile, AnEntryHasAKindAPatternAndTheReasonAboveIt) {
  const Suppressions all = parsed(
      "# Counts for humans,\n"
      "#  may be off.\n"
      "race:Cache::hits\n"
      "\n"
      "# A comment of its own.\n"
      "\n"
      "  ## Taken in order since 1.4.\r\n"
      "  deadlock: ^old_lock$ \r\n");
  ASSERT_EQ(all.entries().size(), 2u);
  EXPECT_EQ(all.entries()[0].entry, "race:Cache::hits");
  EXPECT_EQ(all.entries()[0].place, "weft.supp:3");
  EXPECT_EQ(all.entries()[0].reason, "Counts for humans, may be off.");
  EXPECT_EQ(all.entries()[1].place, "weft.supp:8");
  EXPECT_EQ(all.entries()[1].reason, "Taken in order since 1.4.");
  EXPECT_EQ(parsed("").entries().size(), 0u);
}

TEST(SuppressionFile, AnEntryIsForItsKindAloneAndTheFirstThatMatchesCounts) {
  Suppressions all = parsed("# a\nrace:one\n# b\nrace:on\n# c\ndeadlock:two");
  const std::vector<std::string> one = {"main", "one()"};
  const std::vector<std::string> two = {"two()"};
  EXPECT_EQ(all.match(FindingKind::kDataRace, one), 0u);
  EXPECT_EQ(all.match(FindingKind::kDeadlock, two), 2u);
  EXPECT_EQ(all.match(FindingKind::kDataRace, two), std::nullopt);
  EXPECT_EQ(all.match(FindingKind::kDeadlock, one), std::nullopt);
  EXPECT_TRUE(all.concern(FindingKind::kDeadlock));
  EXPECT_FALSE(all.concern(FindingKind::kAssertion));
  all.count(0, 2);
  all.count(0, 1);
  EXPECT_EQ(all.entries()[0].hits, 3u);
  EXPECT_EQ(all.entries()[1].hits, 0u);
}

std::string error_in(std::string_view text) {
  const auto outcome = Suppressions::parse("weft.supp", text);
  EXPECT_FALSE(outcome) << text;
  EXPECT_EQ(outcome.error().find('\n'), std::string::npos);
  return outcome.error();
}

TEST(SuppressionFile, AMistakeIsNamedWithItsLine) {
  EXPECT_EQ(error_in("race:f\n"),
            "weft.supp:1: 'race:f' has no reason; give it in a comment (# ...) on the line above");
  // A reason is for the line below it alone.
  EXPECT_THAT(error_in("# known\nrace:f\nrace:g\n"), HasSubstr("weft.supp:3: 'race:g' has no"));
  EXPECT_THAT(error_in("# known\n\nrace:f\n"), HasSubstr("weft.supp:3: 'race:f' has no reason"));
  EXPECT_THAT(error_in("#\nrace:f\n"), HasSubstr("has no reason"));
  EXPECT_EQ(error_in("# known\nrase:f\n"),
            "weft.supp:2: 'rase:f' begins with none of race:, deadlock:, lost_wakeup:, leak:, "
            "mutex:, thread:, starvation:, which are what can be suppressed");
  EXPECT_THAT(error_in("# known\nCache::hits\n"), HasSubstr("begins with none of"));
  EXPECT_EQ(error_in("# known\nrace: \n"),
            "weft.supp:2: 'race:' matches nothing; '*' stands for everything");
}

TEST(SuppressionFile, OneThatCannotBeReadIsNamed) {
  EXPECT_EQ(Suppressions::load("/nowhere/weft.supp").error(),
            "cannot open /nowhere/weft.supp: No such file or directory");
  EXPECT_THAT(Suppressions::load("/tmp").error(), HasSubstr("/tmp is not a regular file"));
}

}  // namespace
}  // namespace weft::cli
