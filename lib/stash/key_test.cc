// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: a name is one key, of one type and one rule, whoever defines it.

#include "lib/stash/key.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

namespace weftrt {
namespace {

TEST(StashKey, TheSameNameIsTheSameKey) {
  const StashKey<int> a("key_test.same", StashRule::kReplace);
  const StashKey<int> b("key_test.same", StashRule::kReplace);
  const StashKey<int> other("key_test.other", StashRule::kReplace);
  EXPECT_EQ(&a.record(), &b.record());
  EXPECT_NE(&a.record(), &other.record());
  EXPECT_EQ(a.name(), "key_test.same");
  EXPECT_EQ(a.rule(), StashRule::kReplace);
}

TEST(StashKey, AnotherTypeOrRuleIsRefused) {
  const StashKey<int> key("key_test.typed");
  EXPECT_THROW(StashKey<float>("key_test.typed"), std::logic_error);
  EXPECT_THROW(StashKey<int>("key_test.typed", StashRule::kReplace), std::logic_error);
}

TEST(StashKey, RacingDefinitionsAgree) {
  std::vector<const detail::StashKeyRecord*> records(4);
  std::vector<std::thread> threads;
  for (auto& record : records)
    threads.emplace_back([&record] { record = &StashKey<int>("key_test.raced").record(); });
  for (std::thread& thread : threads) thread.join();
  for (const auto* record : records) EXPECT_EQ(record, records[0]);
}

}  // namespace
}  // namespace weftrt
