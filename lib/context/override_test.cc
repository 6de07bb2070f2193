// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: the invariants of override.h: isolation, exact unwinding, shared inheritance, lifetime.

#include "lib/context/override.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <thread>

namespace weftrt {
namespace {

ContextImpl with_seed(std::uint64_t seed) {
  ContextImpl impl;
  impl.seed_all(seed);
  return impl;
}

std::uint64_t seed_on_another_thread() {
  std::uint64_t seed = 0;
  std::thread([&] { seed = current().seed(); }).join();
  return seed;
}

class Override : public ::testing::Test {
 protected:
  void SetUp() override {
    (void)swap_global(with_seed(1));
    (void)current();
  }
};

TEST_F(Override, IsSeenByItsThreadAlone) {
  const ContextOverride mine(with_seed(2));
  EXPECT_EQ(current().seed(), 2U);
  EXPECT_EQ(seed_on_another_thread(), 1U);
}

TEST_F(Override, HidesGlobalChangesUntilItEnds) {
  {
    const ContextOverride mine(with_seed(2));
    (void)swap_global(with_seed(3));
    EXPECT_EQ(current().seed(), 2U);
  }
  EXPECT_EQ(current().seed(), 3U);
}

TEST_F(Override, NestsAndUnwindsInOrder) {
  {
    const ContextOverride outer(with_seed(2));
    {
      const ContextOverride inner(with_seed(3));
      EXPECT_EQ(current().seed(), 3U);
    }
    EXPECT_EQ(current().seed(), 2U);
  }
  EXPECT_EQ(current().seed(), 1U);
}

TEST_F(Override, UnwindsUnderAnException) {
  const auto nested_and_thrown_through = [] {
    const ContextOverride outer(with_seed(2));
    const ContextOverride inner(with_seed(3));
    throw std::runtime_error("out");
  };
  EXPECT_THROW(nested_and_thrown_through(), std::runtime_error);
  EXPECT_EQ(current().seed(), 1U);
  EXPECT_TRUE(capture_context().follows_global());
}

TEST_F(Override, PinsCrossItsBoundaries) {
  const ContextPin global = pin();
  {
    const ContextOverride mine(with_seed(2));
    const ContextPin overridden = pin();
    EXPECT_EQ(global->seed(), 1U);
    EXPECT_EQ(overridden->seed(), 2U);
  }
  // Back on the implementation pinned before: its pins, old and new, end in any order.
  const ContextPin again = pin();
  EXPECT_EQ(&*global, &*again);
}

TEST_F(Override, AReferenceReadInsideIsValidUntilTheNextRead) {
  const std::size_t before = live_implementations();
  auto mine = std::make_unique<ContextOverride>(with_seed(2));
  const ContextImpl& inside = current();
  mine.reset();
  EXPECT_EQ(inside.seed(), 2U);
  EXPECT_EQ(current().seed(), 1U);
  EXPECT_EQ(live_implementations(), before);
}

TEST_F(Override, ACaptureSharesTheOverride) {
  const std::size_t before = live_implementations();
  CapturedContext captured;
  {
    ContextOverride mine(with_seed(2));
    captured = capture_context();
    mine.update([](ContextImpl& impl) { impl.seed_all(impl.seed() + 1); });
    std::thread([captured] {
      const ContextOverride inherited(captured);
      EXPECT_EQ(current().seed(), 3U);
    }).join();
    EXPECT_EQ(current().seed(), 3U);
  }
  EXPECT_EQ(current().seed(), 1U);
  std::thread([captured] {
    const ContextOverride inherited(captured);
    EXPECT_EQ(current().seed(), 3U) << "a capture outlives the guard it was taken in";
  }).join();
  captured = CapturedContext();
  EXPECT_EQ(live_implementations(), before);
}

TEST_F(Override, OneThatFollowsGlobalUncoversIt) {
  const CapturedContext global = capture_context();
  EXPECT_TRUE(global.follows_global());
  const ContextOverride mine(with_seed(2));
  {
    const ContextOverride uncovered(global);
    EXPECT_EQ(current().seed(), 1U);
    (void)swap_global(with_seed(4));
    EXPECT_EQ(current().seed(), 4U);
  }
  EXPECT_EQ(current().seed(), 2U);
}

TEST_F(Override, AnEditOfTheGlobalContextMayChangeAnOverride) {
  ContextOverride mine(with_seed(2));
  int runs = 0;
  update_global([&](ContextImpl& impl) {
    ++runs;
    mine.update([](ContextImpl& overridden) { overridden.seed_all(20); });
    const ContextOverride inner(with_seed(30));
    impl.seed_all(current().seed());
  });
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(current().seed(), 20U);
  EXPECT_EQ(seed_on_another_thread(), 30U);
}

TEST_F(Override, AnEditOfItMayChangeTheGlobalContextAndAnotherOverride) {
  ContextOverride outer(with_seed(2));
  ContextOverride mine(with_seed(3));
  int runs = 0;
  mine.update([&](ContextImpl& impl) {
    ++runs;
    update_global([](ContextImpl& global) { global.seed_all(10); });
    (void)swap_global(with_seed(11));
    outer.update([](ContextImpl& overridden) { overridden.seed_all(20); });
    impl.seed_all(30);
  });
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(current().seed(), 30U);
  EXPECT_EQ(seed_on_another_thread(), 11U);
}

TEST_F(Override, AChangeOfItWithinAnEditOfItIsRefusedByWhicheverGuard) {
  ContextOverride mine(with_seed(2));
  ContextOverride same(capture_context());
  EXPECT_THROW(mine.update([&](ContextImpl& impl) {
    impl.seed_all(3);
    same.update([](ContextImpl&) {});
  }),
               std::logic_error);
  EXPECT_THROW(mine.update([&](ContextImpl& impl) {
    impl.seed_all(3);
    update_global([&](ContextImpl& global) {
      global.seed_all(3);
      mine.update([](ContextImpl&) {});
    });
  }),
               std::logic_error);
  EXPECT_EQ(current().seed(), 2U);
  EXPECT_EQ(seed_on_another_thread(), 1U);
}

// A fixed bug: it was installed, and the next read that used it crashed.
TEST_F(Override, WhatLacksFactsOrAFunctionIsRefused) {
  ContextOverride mine(with_seed(2));
  const ContextPin before = pin();
  const std::size_t alive = live_implementations();
  void (*const lacks[])(ContextImpl&) = {
      [](ContextImpl& impl) { impl.on(DeviceKind::kCuda).facts = nullptr; },
      [](ContextImpl& impl) { impl.on(DeviceKind::kCpu).allocator.allocate_fn = nullptr; },
      [](ContextImpl& impl) { impl.on(DeviceKind::kCuda).allocator.deallocate_fn = nullptr; },
  };
  for (void (*const lack)(ContextImpl&) : lacks) {
    ContextImpl impl = with_seed(3);
    lack(impl);
    EXPECT_THROW(const ContextOverride inner(impl), std::invalid_argument);
    EXPECT_EQ(&current(), &*before);
    EXPECT_THROW(mine.update(lack), std::invalid_argument);
    EXPECT_EQ(&current(), &*before);
    EXPECT_EQ(live_implementations(), alive);
  }
  EXPECT_EQ(seed_on_another_thread(), 1U);
}

TEST(OverrideDeathTest, EndingOutOfOrderIsNamed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto outer = std::make_unique<ContextOverride>(with_seed(2));
        auto inner = std::make_unique<ContextOverride>(with_seed(3));
        outer.reset();
      },
      "weftrt: a context override ended out of order");
}

TEST(OverrideDeathTest, UpdatingOneThatFollowsGlobalIsNamed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(ContextOverride(CapturedContext()).update([](ContextImpl&) {}),
               "weftrt: update\\(\\) of an override that follows the global context");
}

}  // namespace
}  // namespace weftrt
