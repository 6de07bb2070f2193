// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/model/lock_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace weft::model {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr std::uintptr_t kLock = 0x1000;
constexpr std::uintptr_t kOther = 0x2000;

std::vector<TaskIndex> holders(const LockTable& table, std::uintptr_t address) {
  std::vector<TaskIndex> tasks;
  table.for_each_holder(address, [&](TaskIndex task) { tasks.push_back(task); });
  return tasks;
}

std::vector<std::uintptr_t> held_by(const LockTable& table, TaskIndex task) {
  std::vector<std::uintptr_t> addresses;
  table.for_each_held_by(task, [&](const Hold& hold) { addresses.push_back(hold.address); });
  return addresses;
}

TEST(LockTable, OneHoldsUntilAsManyReleases) {
  LockTable table;
  table.acquired(kLock, 1, 0);
  table.acquired(kLock, 1, 0);
  table.released(kLock);
  EXPECT_EQ(table.holder(kLock), 1u);
  table.released(kLock);
  EXPECT_EQ(table.holder(kLock), kNoTaskIndex);
}

TEST(LockTable, ReadersHoldTogetherAndNoneAlone) {
  LockTable table;
  table.acquired_shared(kLock, 1, 0);
  table.acquired_shared(kLock, 2, 0);
  table.acquired_shared(kLock, 2, 0);
  EXPECT_EQ(table.holder(kLock), kNoTaskIndex);
  EXPECT_THAT(holders(table, kLock), UnorderedElementsAre(1, 2));
  table.released_shared(kLock, 1);
  table.released_shared(kLock, 2);
  EXPECT_THAT(holders(table, kLock), ElementsAre(2));
  table.released_shared(kLock, 2);
  EXPECT_THAT(holders(table, kLock), IsEmpty());
}

TEST(LockTable, KnowsWhoReadsAndHowOften) {
  LockTable table;
  table.acquired_shared(kLock, 1, 0);
  table.acquired_shared(kLock, 2, 0);
  table.acquired_shared(kLock, 2, 0);
  table.acquired(kOther, 3, 0);
  EXPECT_TRUE(table.reads(kLock, 1) && table.reads(kLock, 2));
  EXPECT_FALSE(table.reads(kLock, 3) || table.reads(kOther, 3));
  EXPECT_EQ(table.read_depth(kLock), 3u);
  EXPECT_EQ(table.read_depth(kOther), 0u);
}

TEST(LockTable, AnotherLockInTheMemoryOfOneLeftHeldIsHeldOnce) {
  LockTable table;
  table.acquired(kLock, 1, 0, LockKind::kSpin);
  table.acquired(kLock, 1, 0, LockKind::kMutex);
  table.released(kLock);
  EXPECT_EQ(table.holder(kLock), kNoTaskIndex);
}

TEST(LockTable, HoldsMoveWithoutBeingLost) {
  LockTable table;
  table.acquired_shared(kLock, 1, 0);
  table.acquired(kOther, 2, 0);
  table.acquired_shared(kLock, 3, 0);
  table.released_shared(kLock, 1);
  EXPECT_EQ(table.holder(kOther), 2u);
  EXPECT_THAT(held_by(table, 3), ElementsAre(kLock));
  table.released(kOther);
  EXPECT_THAT(holders(table, kLock), ElementsAre(3));
  table.released_shared(kLock, 3);
  EXPECT_THAT(held_by(table, 3), IsEmpty());
}

TEST(LockTable, ManyAtATimeAreFoundAsFewAre) {
  LockTable table;
  constexpr std::uintptr_t kMany = 40;
  for (std::uintptr_t i = 1; i <= kMany; ++i) {
    table.acquired(8 * i, static_cast<TaskIndex>(i), 0);
    table.acquired_shared(8 * i + 4, 1, 0);
  }
  for (std::uintptr_t i = 1; i <= kMany; ++i) EXPECT_EQ(table.holder(8 * i), i);
  for (std::uintptr_t i = 1; i <= kMany; i += 2) table.released(8 * i);
  for (std::uintptr_t i = 1; i <= kMany; ++i) {
    EXPECT_EQ(table.holder(8 * i), i % 2 == 0 ? i : kNoTaskIndex);
    EXPECT_TRUE(table.reads(8 * i + 4, 1));
    EXPECT_EQ(table.holder(8 * i + 4), kNoTaskIndex);
  }
  table.clear();
  EXPECT_EQ(table.holder(16), kNoTaskIndex);
  table.acquired(16, 3, 0);
  EXPECT_EQ(table.holder(16), 3u);
}

}  // namespace
}  // namespace weft::model
