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

// A fixed bug: the type was deduced from the value as well, so that these did not compile.
TEST(Properties, TheKeyAloneSaysTheType) {
  Properties properties;
  properties.set(kStreams, 4);
  properties.set(kBackend, "native");
  properties.set(kScale, 2);
  EXPECT_EQ(*properties.find(kStreams), 4);
  EXPECT_EQ(*properties.find(kBackend), "native");
  EXPECT_EQ(*properties.find(kScale), 2.0);

  const Properties none;
  EXPECT_EQ(none.value_or(kStreams, 7), 7);
  EXPECT_EQ(none.value_or(kBackend, "other"), "other");
  EXPECT_EQ(none.value_or(kScale, 1), 1.0);
  EXPECT_EQ(properties.value_or(kBackend, "other"), "native");
  EXPECT_EQ(properties.value_or(kScale, 1), 2.0);
}

template <class T, class Value>
concept Settable = requires(Properties properties, PropertyKey<T> key, const Value& value) {
  properties.set(key, value);
};
template <class T, class Value>
concept Fallback = requires(Properties properties, PropertyKey<T> key, const Value& value) {
  properties.value_or(key, value);
};
static_assert(Settable<bool, bool> && Settable<std::int64_t, int> && Settable<double, int>);
static_assert(Settable<std::string, char[4]> && Settable<std::string, const char*>);
static_assert(!Settable<std::int64_t, std::string> && !Settable<std::string, int>);
static_assert(!Settable<bool, char[4]> && !Settable<bool, const char*>, "whose truth is no value");
static_assert(Fallback<bool, bool> && Fallback<double, int> && !Fallback<bool, const char*>);

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
