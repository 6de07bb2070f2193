// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: a guard merges by rule and puts back exactly what it changed.
// Method: one key of each rule, on the capturing and on the restoring thread, present and absent.

#include "lib/stash/guard.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

namespace weftrt {
namespace {

const StashKey<int> kPrivate("guard_test.private", StashRule::kPrivate);
const StashKey<int> kFill("guard_test.fill", StashRule::kFillMissing);
const StashKey<int> kReplace("guard_test.replace", StashRule::kReplace);

void set(const StashKey<int>& key, int value) { stash::set(key, std::make_shared<int>(value)); }

// -1 where there is no object.
int value_of(const StashKey<int>& key) { return stash::contains(key) ? *stash::get(key) : -1; }

class Guard : public ::testing::Test {
 protected:
  // All three keys on this thread; then captured; then gone.
  void SetUp() override {
    set(kPrivate, 1);
    set(kFill, 2);
    set(kReplace, 3);
    captured = stash::capture();
    TearDown();
  }
  void TearDown() override {
    for (const auto* key : {&kPrivate, &kFill, &kReplace}) (void)stash::erase(*key);
  }

  StashCapture captured;
};

TEST_F(Guard, ACaptureHoldsWhatMayBeInherited) {
  EXPECT_EQ(captured.size(), 2U);
  EXPECT_EQ(stash::capture().size(), 0U);
}

TEST_F(Guard, AnEmptyThreadGetsWhatWasCaptured) {
  {
    const StashGuard guard(captured);
    EXPECT_EQ(value_of(kPrivate), -1);
    EXPECT_EQ(value_of(kFill), 2);
    EXPECT_EQ(value_of(kReplace), 3);
  }
  EXPECT_EQ(value_of(kFill), -1);
  EXPECT_EQ(value_of(kReplace), -1);
}

TEST_F(Guard, AThreadWithItsOwnObjectsMergesByRule) {
  set(kPrivate, 10);
  set(kFill, 20);
  set(kReplace, 30);
  {
    const StashGuard guard(captured);
    EXPECT_EQ(value_of(kPrivate), 10);
    EXPECT_EQ(value_of(kFill), 20);
    EXPECT_EQ(value_of(kReplace), 3);
  }
  EXPECT_EQ(value_of(kPrivate), 10);
  EXPECT_EQ(value_of(kFill), 20);
  EXPECT_EQ(value_of(kReplace), 30);
}

// docs/cases.md 2: an object stashed after the snapshot was taken is still found under its guard.
TEST_F(Guard, AKeyThatTheCaptureLacksIsNotLost) {
  const StashKey<int> later("guard_test.later", StashRule::kReplace);
  set(later, 5);
  const StashGuard guard(captured);
  EXPECT_EQ(value_of(later), 5);
  (void)stash::erase(later);
}

TEST_F(Guard, WhatIsStashedInsideStays) {
  {
    const StashGuard guard(captured);
    set(kPrivate, 11);
  }
  EXPECT_EQ(value_of(kPrivate), 11);
}

TEST_F(Guard, AnInstalledKeyIsPutBackWhateverHappenedToIt) {
  set(kReplace, 30);
  {
    const StashGuard guard(captured);
    (void)stash::erase(kReplace);
    set(kFill, 21);
  }
  EXPECT_EQ(value_of(kReplace), 30);
  EXPECT_EQ(value_of(kFill), -1);
}

TEST_F(Guard, GuardsNestAndUnwindUnderAnException) {
  set(kReplace, 30);
  const auto nested_and_thrown_through = [&] {
    const StashGuard outer(captured);
    set(kReplace, 31);
    const StashGuard inner(captured);
    EXPECT_EQ(value_of(kReplace), 3);
    throw std::runtime_error("out");
  };
  EXPECT_THROW(nested_and_thrown_through(), std::runtime_error);
  EXPECT_EQ(value_of(kReplace), 30);
}

TEST_F(Guard, ObjectsAreSharedAndReleasedOnce) {
  auto object = std::make_shared<int>(4);
  stash::set(kReplace, object);
  std::optional<StashCapture> shared = stash::capture();
  (void)stash::erase(kReplace);
  EXPECT_EQ(object.use_count(), 2);
  std::thread([&] {
    const StashGuard guard(*shared);
    EXPECT_EQ(stash::get(kReplace).get(), object.get());
    EXPECT_EQ(object.use_count(), 3);
  }).join();
  EXPECT_EQ(object.use_count(), 2);
  shared.reset();
  EXPECT_EQ(object.use_count(), 1);
}

TEST(GuardDeathTest, EndingOutOfOrderIsNamed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto outer = std::make_unique<StashGuard>(StashCapture());
        auto inner = std::make_unique<StashGuard>(StashCapture());
        outer.reset();
      },
      "weftrt: a stash guard ended out of order");
}

}  // namespace
}  // namespace weftrt
