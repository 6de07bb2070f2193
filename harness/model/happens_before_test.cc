// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/model/happens_before.h"

#include <gtest/gtest.h>

namespace weft::model {
namespace {

constexpr TaskIndex kA = 0;
constexpr TaskIndex kB = 1;
constexpr TaskIndex kC = 2;
constexpr std::uintptr_t kX = 0x1000;
constexpr std::uintptr_t kY = 0x1008;

class HappensBeforeTest : public testing::Test {
 protected:
  Arena arena{1 << 20};
  HappensBefore order{16, arena};
};

TEST_F(HappensBeforeTest, TasksAreUnorderedAtFirst) {
  EXPECT_TRUE(order.precedes(kA, 7, kA));
  EXPECT_FALSE(order.precedes(kA, 1, kB));
}

TEST_F(HappensBeforeTest, AChildKnowsWhatItsParentDidBefore) {
  order.spawned(kB, kA, 5);
  EXPECT_TRUE(order.precedes(kA, 5, kB));
  EXPECT_FALSE(order.precedes(kA, 6, kB));
}

TEST_F(HappensBeforeTest, JoinHandsOverAllThatTheTaskKnew) {
  order.release(kC, 3, kX);
  order.acquire(kB, kX);
  order.joined(kA, kB, 9);
  EXPECT_TRUE(order.precedes(kB, 9, kA));
  EXPECT_TRUE(order.precedes(kC, 3, kA));
}

TEST_F(HappensBeforeTest, ALockHandsOverWhatItsHoldersDid) {
  order.release(kA, 4, kX);
  order.acquire(kB, kX);
  EXPECT_TRUE(order.precedes(kA, 4, kB));
  EXPECT_FALSE(order.precedes(kA, 5, kB));
  order.release(kB, 2, kX);
  order.acquire(kC, kX);
  EXPECT_TRUE(order.precedes(kA, 4, kC));
  EXPECT_TRUE(order.precedes(kB, 2, kC));
}

TEST_F(HappensBeforeTest, AcquireReadsWhatReleaseWrote) {
  order.store(kA, 4, kX, MemoryOrder::kRelease);
  order.load(kB, kX, MemoryOrder::kAcquire);
  EXPECT_TRUE(order.precedes(kA, 4, kB));
}

TEST_F(HappensBeforeTest, RelaxedOnEitherSideOrdersNothing) {
  order.store(kA, 4, kX, MemoryOrder::kRelaxed);
  order.load(kB, kX, MemoryOrder::kAcquire);
  order.store(kA, 5, kY, MemoryOrder::kRelease);
  order.load(kB, kY, MemoryOrder::kRelaxed);
  EXPECT_FALSE(order.precedes(kA, 1, kB));
}

TEST_F(HappensBeforeTest, AnAcquireFenceCompletesARelaxedLoad) {
  order.store(kA, 4, kX, MemoryOrder::kRelease);
  order.load(kB, kX, MemoryOrder::kRelaxed);
  order.fence(kB, 2, MemoryOrder::kAcquire);
  EXPECT_TRUE(order.precedes(kA, 4, kB));
}

TEST_F(HappensBeforeTest, AReleaseFenceHandsOverWhatCameBeforeItAlone) {
  order.fence(kA, 4, MemoryOrder::kRelease);
  order.store(kA, 6, kX, MemoryOrder::kRelaxed);
  order.load(kB, kX, MemoryOrder::kAcquire);
  EXPECT_TRUE(order.precedes(kA, 4, kB));
  EXPECT_FALSE(order.precedes(kA, 5, kB));
}

TEST_F(HappensBeforeTest, ReadModifyWritesGoOnWithAReleaseSequence) {
  order.store(kA, 4, kX, MemoryOrder::kRelease);
  order.read_modify_write(kB, 1, kX, MemoryOrder::kRelaxed);
  order.load(kC, kX, MemoryOrder::kAcquire);
  EXPECT_TRUE(order.precedes(kA, 4, kC));
  EXPECT_FALSE(order.precedes(kB, 1, kC)) << "it released nothing of its own";
}

TEST_F(HappensBeforeTest, APlainStoreEndsAReleaseSequence) {
  order.store(kA, 4, kX, MemoryOrder::kRelease);
  order.store(kA, 5, kX, MemoryOrder::kRelaxed);
  order.load(kC, kX, MemoryOrder::kAcquire);
  EXPECT_FALSE(order.precedes(kA, 4, kC));
}

TEST_F(HappensBeforeTest, AForgottenObjectHandsOverNothing) {
  order.release(kA, 4, kX);
  order.forget(kX);
  order.acquire(kB, kX);
  EXPECT_FALSE(order.precedes(kA, 1, kB));
}

TEST_F(HappensBeforeTest, ANewExecutionStartsWithoutOrder) {
  order.release(kA, 4, kX);
  order.acquire(kB, kX);
  arena.reset();
  order.clear(3);
  EXPECT_FALSE(order.precedes(kA, 1, kB));
  order.acquire(kC, kX);
  EXPECT_FALSE(order.precedes(kA, 1, kC));
}

}  // namespace
}  // namespace weft::model
