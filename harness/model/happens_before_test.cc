// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/model/happens_before.h"

#include <gtest/gtest.h>

#include "harness/base/prng.h"

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

TEST_F(HappensBeforeTest, RenewalsSayWhatTheWholeWaySays) {
  // Six tasks, which is more than a clock has room for in itself.
  constexpr TaskIndex kTasks = 6;
  std::uint64_t renewed = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Prng random(seed);
    HappensBefore shortly(16, arena);
    std::uint64_t operations[kTasks] = {};
    for (int step = 0; step < 200; ++step) {
      const auto task = static_cast<TaskIndex>(random.below(kTasks));
      const std::uintptr_t object = random.below(2) == 0 ? kX : kY;
      const auto memory_order = static_cast<MemoryOrder>(random.below(6));
      // Runs of one task's, as renewals need.
      for (std::uint64_t left = 1 + random.below(4); left > 0; --left) {
        const std::uint64_t now = ++operations[task];
        switch (random.below(8)) {
          case 0:
            order.load(task, object, memory_order);
            if (!shortly.knows(task, object, memory_order))
              shortly.load(task, object, memory_order);
            break;
          case 1:
            order.fence(task, now, memory_order);
            shortly.fence(task, now, memory_order);
            break;
          case 2:
            order.store(task, now, object, memory_order);
            if (shortly.renews(task, now, object, memory_order)) {
              ++renewed;
            } else {
              shortly.store(task, now, object, memory_order);
            }
            break;
          case 3:
            order.acquire(task, object);
            shortly.acquire(task, object);
            break;
          case 4:
            order.release(task, now, object);
            if (!shortly.renews(task, now, object, MemoryOrder::kRelease))
              shortly.release(task, now, object);
            break;
          default:
            order.read_modify_write(task, now, object, memory_order);
            if (shortly.renews(task, now, object, memory_order)) {
              ++renewed;
            } else {
              shortly.read_modify_write(task, now, object, memory_order);
            }
        }
      }
      for (TaskIndex earlier = 0; earlier < kTasks; ++earlier) {
        for (TaskIndex later = 0; later < kTasks; ++later) {
          for (std::uint64_t at = 1; at <= operations[earlier]; ++at) {
            ASSERT_EQ(shortly.precedes(earlier, at, later), order.precedes(earlier, at, later))
                << "seed " << seed << ", step " << step;
          }
        }
      }
    }
    order.clear(kTasks);
    arena.reset();
  }
  EXPECT_GT(renewed, 1000u);
}

}  // namespace
}  // namespace weft::model
