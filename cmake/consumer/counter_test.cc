// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: a project that only has an installed Weftwork finds a lost update in its own library, and
// finds nothing in the repaired one. Method: explore both; the buggy one through weft::explore,
// whose result is a value.

#include "counter.h"

#include <x86intrin.h>
#include <thread>

#include <gtest/gtest.h>
#include <weft/gtest.h>

namespace {

void add_twice(void (Counter::*add)()) {
  Counter counter;
  std::thread other([&] { (counter.*add)(); });
  (counter.*add)();
  other.join();
  weft::always(counter.value() == 2, "no update is lost");
}

WEFT_TEST(Counter, KeepsEveryUpdate) { add_twice(&Counter::add); }

WEFT_TEST(Clock, TimeStampsAreVirtual) {
  const unsigned long long first = __rdtsc();
  weft::always(__rdtsc() == first + 100, "a reading takes a hundred nanoseconds");
}

TEST(Counter, TornUpdateIsFound) {
  const weft::Result result =
      weft::explore({.schedules = 1000}, [] { add_twice(&Counter::add_torn); });
  ASSERT_EQ(result.error, "");
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_NE(result.findings[0].message.find("no update is lost"), std::string::npos)
      << result.findings[0].message;
  EXPECT_FALSE(result.findings[0].token.empty());
}

}  // namespace
