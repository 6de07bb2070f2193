// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: values come back under the name and type they were set with, and under no other.

#include "lib/context/properties.h"

#include <gtest/gtest.h>

namespace weftrt {
namespace {

constexpr PropertyKey<std::int64_t> kStreams{"streams"};
constexpr PropertyKey<std::string> kBackend{"backend"};
constexpr PropertyKey<bool> kTf32{"math.tf32"};
constexpr PropertyKey<double> kScale{"scale"};

TEST(Properties, HoldsEachTypeUnderItsName) {
  Properties properties;
  properties.set(kStreams, std::int64_t{4});
  properties.set(kBackend, std::string("native"));
  properties.set(kTf32, false);
  properties.set(kScale, 0.5);

  ASSERT_EQ(properties.size(), 4U);
  EXPECT_EQ(*properties.find(kStreams), 4);
  EXPECT_EQ(*properties.find(kBackend), "native");
  EXPECT_EQ(*properties.find(kTf32), false);
  EXPECT_EQ(*properties.find(kScale), 0.5);
}

TEST(Properties, AnAbsentNameIsNotAValue) {
  const Properties properties;
  EXPECT_EQ(properties.find(kStreams), nullptr);
  EXPECT_EQ(properties.value_or(kStreams, std::int64_t{7}), 7);
}

TEST(Properties, AnotherTypeOfTheSameNameIsNotFound) {
  Properties properties;
  properties.set(kStreams, std::int64_t{4});
  EXPECT_EQ(properties.find(PropertyKey<bool>{"streams"}), nullptr);

  properties.set(PropertyKey<bool>{"streams"}, true);
  EXPECT_EQ(properties.size(), 1U);
  EXPECT_EQ(properties.find(kStreams), nullptr);
  EXPECT_EQ(*properties.find(PropertyKey<bool>{"streams"}), true);
}

TEST(Properties, EraseRemovesOneName) {
  Properties properties;
  properties.set(kStreams, std::int64_t{4});
  properties.set(kTf32, true);
  EXPECT_TRUE(properties.erase("streams"));
  EXPECT_FALSE(properties.erase("streams"));
  EXPECT_EQ(properties.find(kStreams), nullptr);
  EXPECT_EQ(*properties.find(kTf32), true);
}

TEST(Properties, EqualityIgnoresTheOrderOfSetting) {
  Properties a;
  a.set(kStreams, std::int64_t{4});
  a.set(kTf32, true);
  Properties b;
  b.set(kTf32, true);
  EXPECT_NE(a, b);
  b.set(kStreams, std::int64_t{4});
  EXPECT_EQ(a, b);
}

}  // namespace
}  // namespace weftrt
