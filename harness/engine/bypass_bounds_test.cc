// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: of the bounds on a lock the right one holds. What is counted against it is tested by
// scenarios/facilities/bounded_bypass.cc.

#include "harness/engine/bypass_bounds.h"

#include <gtest/gtest.h>

namespace weft::engine {
namespace {

TEST(BypassBounds, NothingIsBoundedUntilSomethingIs) {
  BypassBounds bounds;
  EXPECT_FALSE(bounds.any());
  EXPECT_EQ(bounds.of(0x10), BypassBounds::kNone);
}

TEST(BypassBounds, ALocksOwnBoundBeatsTheOneForAll) {
  BypassBounds bounds;
  ASSERT_TRUE(bounds.bound(0x10, 3));
  EXPECT_EQ(bounds.of(0x18), BypassBounds::kNone);
  bounds.bound_all(0);
  EXPECT_EQ(bounds.of(0x10), 3u);
  EXPECT_EQ(bounds.of(0x18), 0u);
}

TEST(BypassBounds, ASecondBoundReplacesTheFirst) {
  BypassBounds bounds;
  ASSERT_TRUE(bounds.bound(0x10, 3));
  ASSERT_TRUE(bounds.bound(0x10, 5));
  EXPECT_EQ(bounds.of(0x10), 5u);
}

TEST(BypassBounds, TooManyAreRefusedAndOldOnesStillChange) {
  BypassBounds bounds;
  for (std::uintptr_t lock = 1; lock <= BypassBounds::kMax; ++lock)
    ASSERT_TRUE(bounds.bound(lock, 1));
  EXPECT_FALSE(bounds.bound(1000, 1));
  EXPECT_TRUE(bounds.bound(1, 2));
}

TEST(BypassBounds, ANewExecutionHasNone) {
  BypassBounds bounds;
  bounds.bound_all(1);
  ASSERT_TRUE(bounds.bound(0x10, 3));
  bounds.clear();
  EXPECT_FALSE(bounds.any());
  EXPECT_EQ(bounds.of(0x10), BypassBounds::kNone);
}

}  // namespace
}  // namespace weft::engine
