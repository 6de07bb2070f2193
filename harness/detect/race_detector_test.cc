// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/detect/race_detector.h"

#include <gtest/gtest.h>

#include "harness/base/prng.h"

namespace weft::detect {
namespace {

using model::HappensBefore;
using model::MemoryOrder;
using Kind = trace::AccessKind;

constexpr TaskIndex kA = 0;
constexpr TaskIndex kB = 1;
constexpr TaskIndex kC = 2;
constexpr std::uintptr_t kWord = 0x7f00'0000'1000;
constexpr std::uintptr_t kLock = 0x7f00'0000'2000;

class FixedOrigin : public OriginSource {
 public:
  Origin origin;
  [[nodiscard]] Origin origin_of(std::uintptr_t) const noexcept override { return origin; }
};

/// A detector, and the operation counts of three tasks.
class RaceDetectorTest : public testing::Test {
 protected:
  bool touch(TaskIndex task, Kind kind, std::uintptr_t address = kWord, std::size_t size = 8) {
    const Access now(task, ++operations[task], kind, size, 0x100 + task);
    if (trace::is_atomic(kind)
            ? races.touch_own_atomic(address, size, now) || races.touch_atomic(address, size, now)
            : races.touch_own(address, size, now) || races.touch_ordered(address, size, now))
      return false;
    return races.touch(address, size, now, conflict);
  }
  bool release(TaskIndex task, std::size_t size) {
    const Access now(task, ++operations[task], Kind::kFree, size, 0x100);
    return races.release(kWord, size, now, conflict, order);
  }
  void hand_over(TaskIndex from, TaskIndex to) {
    order.release(from, ++operations[from], kLock);
    order.acquire(to, kLock);
  }

  Arena arena{1 << 20};
  HappensBefore order{8, arena};
  FixedOrigin origins;
  RaceDetector races{order, origins, arena};
  std::uint64_t operations[3] = {};
  Conflict conflict;
};

TEST_F(RaceDetectorTest, OneTaskNeverRacesWithItself) {
  EXPECT_FALSE(touch(kA, Kind::kWrite));
  EXPECT_FALSE(touch(kA, Kind::kRead));
  EXPECT_FALSE(touch(kA, Kind::kWrite));
}

TEST_F(RaceDetectorTest, UnorderedWriteAndReadRace) {
  EXPECT_FALSE(touch(kA, Kind::kWrite));
  ASSERT_TRUE(touch(kB, Kind::kRead));
  EXPECT_EQ(conflict.earlier.by(), kA);
  EXPECT_EQ(conflict.earlier.operation, 1u);
  EXPECT_EQ(conflict.earlier.what(), Kind::kWrite);
  EXPECT_EQ(conflict.address, kWord);
}

TEST_F(RaceDetectorTest, UnorderedReadAndWriteRace) {
  EXPECT_FALSE(touch(kA, Kind::kRead));
  ASSERT_TRUE(touch(kB, Kind::kWrite));
  EXPECT_EQ(conflict.earlier.what(), Kind::kRead);
}

TEST_F(RaceDetectorTest, UnorderedWritesRace) {
  EXPECT_FALSE(touch(kA, Kind::kWrite));
  EXPECT_TRUE(touch(kB, Kind::kWrite));
}

TEST_F(RaceDetectorTest, ReadsDoNotRace) {
  EXPECT_FALSE(touch(kA, Kind::kRead));
  EXPECT_FALSE(touch(kB, Kind::kRead));
  EXPECT_FALSE(touch(kC, Kind::kRead));
}

TEST_F(RaceDetectorTest, WhatALockOrdersDoesNotRace) {
  EXPECT_FALSE(touch(kA, Kind::kWrite));
  hand_over(kA, kB);
  EXPECT_FALSE(touch(kB, Kind::kWrite));
}

TEST_F(RaceDetectorTest, WhatCameAfterTheReleaseRaces) {
  hand_over(kA, kB);
  EXPECT_FALSE(touch(kA, Kind::kWrite));
  EXPECT_TRUE(touch(kB, Kind::kRead));
}

TEST_F(RaceDetectorTest, EveryConcurrentReaderIsRemembered) {
  EXPECT_FALSE(touch(kA, Kind::kRead));
  EXPECT_FALSE(touch(kB, Kind::kRead));
  hand_over(kB, kC);
  ASSERT_TRUE(touch(kC, Kind::kWrite));
  EXPECT_EQ(conflict.earlier.by(), kA);
}

TEST_F(RaceDetectorTest, AtomicsRaceWithPlainAccessesOnly) {
  EXPECT_FALSE(touch(kA, Kind::kAtomicWrite));
  EXPECT_FALSE(touch(kB, Kind::kAtomicWrite));
  EXPECT_FALSE(touch(kC, Kind::kAtomicRead));
  ASSERT_TRUE(touch(kC, Kind::kRead));
  EXPECT_EQ(conflict.earlier.what(), Kind::kAtomicWrite);
}

TEST_F(RaceDetectorTest, AnAtomicReadAndAPlainReadDoNotRace) {
  EXPECT_FALSE(touch(kA, Kind::kAtomicRead));
  EXPECT_FALSE(touch(kB, Kind::kRead));
}

TEST_F(RaceDetectorTest, AnEarlierAtomicWriterIsNotHiddenByALaterOne) {
  EXPECT_FALSE(touch(kA, Kind::kAtomicWrite));
  EXPECT_FALSE(touch(kB, Kind::kAtomicWrite));
  hand_over(kB, kC);
  ASSERT_TRUE(touch(kC, Kind::kRead));
  EXPECT_EQ(conflict.earlier.by(), kA);
}

TEST_F(RaceDetectorTest, NeighboursInAWordDoNotRace) {
  EXPECT_FALSE(touch(kA, Kind::kWrite, kWord, 4));
  EXPECT_FALSE(touch(kB, Kind::kWrite, kWord + 4, 4));
  EXPECT_FALSE(touch(kC, Kind::kRead, kWord + 8, 8));
}

TEST_F(RaceDetectorTest, AWiderAccessRacesWithEachByteInIt) {
  EXPECT_FALSE(touch(kA, Kind::kWrite, kWord + 5, 1));
  ASSERT_TRUE(touch(kB, Kind::kRead, kWord, 8));
  EXPECT_EQ(conflict.address, kWord + 5);
}

TEST_F(RaceDetectorTest, ASplitCellKeepsItsReaders) {
  EXPECT_FALSE(touch(kA, Kind::kRead));
  EXPECT_FALSE(touch(kB, Kind::kRead));
  EXPECT_FALSE(touch(kB, Kind::kRead, kWord + 2, 1));
  hand_over(kB, kC);
  ASSERT_TRUE(touch(kC, Kind::kWrite, kWord + 6, 1));
  EXPECT_EQ(conflict.earlier.by(), kA);
}

TEST_F(RaceDetectorTest, RangesCrossGranules) {
  EXPECT_FALSE(touch(kA, Kind::kWrite, kWord + 4, 40));
  EXPECT_FALSE(touch(kB, Kind::kWrite, kWord, 4));
  EXPECT_FALSE(touch(kB, Kind::kWrite, kWord + 44, 4));
  EXPECT_TRUE(touch(kB, Kind::kRead, kWord + 40, 4));
}

TEST_F(RaceDetectorTest, AllocationCountsAsAWrite) {
  origins.origin.allocated = Access(kA, 1, Kind::kAllocate, 8, 0x55);
  ASSERT_TRUE(touch(kB, Kind::kRead));
  EXPECT_EQ(conflict.earlier.what(), Kind::kAllocate);
}

TEST_F(RaceDetectorTest, FreeRacesWithAnUnorderedUse) {
  EXPECT_FALSE(touch(kA, Kind::kRead));
  ASSERT_TRUE(release(kB, 8));
  EXPECT_EQ(conflict.earlier.by(), kA);
}

TEST_F(RaceDetectorTest, AFreedBlockMustNotBeTouchedEvenInOrder) {
  EXPECT_FALSE(touch(kA, Kind::kWrite));
  EXPECT_FALSE(release(kA, 8));
  origins.origin.freed = Access(kA, 2, Kind::kFree, 8, 0x55);
  ASSERT_TRUE(touch(kA, Kind::kRead));
  EXPECT_EQ(conflict.earlier.what(), Kind::kFree);
}

TEST_F(RaceDetectorTest, FreeForgetsTheAtomicsOfTheBlock) {
  EXPECT_FALSE(touch(kA, Kind::kAtomicWrite));
  races.synchronises(kWord);
  order.store(kA, operations[kA], kWord, MemoryOrder::kRelease);
  EXPECT_FALSE(release(kA, 8));
  order.load(kB, kWord, MemoryOrder::kAcquire);
  EXPECT_FALSE(order.precedes(kA, 1, kB));
}

TEST_F(RaceDetectorTest, ANewExecutionHasNoHistory) {
  EXPECT_FALSE(touch(kA, Kind::kWrite));
  arena.reset();
  order.clear(3);
  races.clear();
  EXPECT_FALSE(touch(kB, Kind::kWrite));
}

}  // namespace

TEST_F(RaceDetectorTest, NeighboursInOneGranuleAreToldApart) {
  EXPECT_FALSE(touch(kA, Kind::kWrite, kWord, 4));
  EXPECT_FALSE(touch(kB, Kind::kWrite, kWord + 4, 4));
  EXPECT_FALSE(touch(kA, Kind::kRead, kWord, 4));
  EXPECT_FALSE(touch(kB, Kind::kAtomicRead, kWord + 4, 2));
  ASSERT_TRUE(touch(kA, Kind::kRead, kWord, 8));
  EXPECT_EQ(conflict.address, kWord + 4);
  EXPECT_EQ(conflict.earlier.by(), kB);
}

TEST_F(RaceDetectorTest, ALongRangeIsNotTakenForOneGranule) {
  EXPECT_FALSE(touch(kA, Kind::kAtomicWrite, kWord, 8));
  EXPECT_FALSE(touch(kA, Kind::kWrite, kWord + 8, 8));
  ASSERT_TRUE(touch(kB, Kind::kWrite, kWord, 264));
  EXPECT_EQ(conflict.address, kWord);
}

TEST_F(RaceDetectorTest, ShortcutsSayWhatTheWholeWaySays) {
  std::uint64_t races_seen = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Prng random(seed);
    RaceDetector plainly(order, origins, arena);
    RaceDetector shortly(order, origins, arena);
    for (int step = 0; step < 60; ++step) {
      const auto task = static_cast<TaskIndex>(random.below(3));
      if (random.below(3) == 0) {
        hand_over(task, static_cast<TaskIndex>(random.below(3)));
        continue;
      }
      constexpr Kind kKinds[] = {Kind::kRead, Kind::kWrite, Kind::kAtomicRead, Kind::kAtomicWrite};
      const Kind kind = kKinds[random.below(4)];
      const std::size_t size = std::size_t{1} << random.below(4);
      const std::uintptr_t address = kWord + random.below(16 / size) * size;
      const Access now(task, ++operations[task], kind, size, 0x100 + task);
      const bool known = trace::is_atomic(kind) ? shortly.touch_own_atomic(address, size, now) ||
                                                      shortly.touch_atomic(address, size, now)
                                                : shortly.touch_own(address, size, now) ||
                                                      shortly.touch_ordered(address, size, now);
      const bool done = known || (random.below(2) == 0 && shortly.touch_first(address, size, now));
      Conflict short_way;
      Conflict whole_way;
      const bool raced = plainly.touch(address, size, now, whole_way);
      EXPECT_EQ(!done && shortly.touch(address, size, now, short_way), raced)
          << "seed " << seed << ", step " << step;
      if (!raced) continue;
      ++races_seen;
      EXPECT_EQ(short_way.address, whole_way.address) << "seed " << seed << ", step " << step;
      break;
    }
    order.clear(8);
    arena.reset();
  }
  EXPECT_GT(races_seen, 200u);
}

}  // namespace weft::detect
