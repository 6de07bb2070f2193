// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: a managed thread starts with what is inherited and no more; a raw one with nothing.

#include "lib/threads/spawn.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

namespace weftrt {
namespace {

const StashKey<int> kInherited("spawn_test.inherited", StashRule::kFillMissing,
                               [] { return std::make_shared<int>(-1); });
const StashKey<int> kPrivate("spawn_test.private", StashRule::kPrivate,
                             [] { return std::make_shared<int>(-2); });

ContextImpl with_seed(std::uint64_t seed) {
  ContextImpl impl;
  impl.seed_all(seed);
  return impl;
}

class Spawn : public ::testing::Test {
 protected:
  void SetUp() override {
    (void)swap_global(with_seed(1));
    stash::set(kInherited, std::make_shared<int>(5));
    stash::set(kPrivate, std::make_shared<int>(6));
  }
  void TearDown() override {
    (void)stash::erase(kInherited);
    (void)stash::erase(kPrivate);
  }
};

TEST_F(Spawn, AManagedThreadInheritsStashAndOverride) {
  const ContextOverride mine(with_seed(2));
  spawn_managed([parents = stash::get(kInherited)] {
    EXPECT_EQ(current().seed(), 2U);
    EXPECT_EQ(stash::get_or_init(kInherited), parents);
    EXPECT_EQ(*stash::get_or_init(kPrivate), -2);
  }).join();
}

TEST_F(Spawn, ARawThreadInheritsNothingAndInitialisesItself) {
  const ContextOverride mine(with_seed(2));
  spawn_raw([] {
    EXPECT_EQ(current().seed(), 1U);
    EXPECT_FALSE(stash::contains(kInherited));
    EXPECT_EQ(*stash::get_or_init(kInherited), -1);
    EXPECT_EQ(*stash::get_or_init(kPrivate), -2);
  }).join();
}

TEST_F(Spawn, StateIsThatOfTheMomentOfSpawning) {
  std::atomic<bool> go{false};
  std::thread child = spawn_managed([&] {
    go.wait(false);
    EXPECT_EQ(*stash::get(kInherited), 5);
  });
  stash::set(kInherited, std::make_shared<int>(50));
  go = true;
  go.notify_one();
  child.join();
}

TEST_F(Spawn, GrandchildrenInheritWhatTheirParentInherited) {
  const ContextOverride mine(with_seed(2));
  spawn_managed([] {
    spawn_managed([] {
      EXPECT_EQ(current().seed(), 2U);
      EXPECT_EQ(*stash::get(kInherited), 5);
    }).join();
  }).join();
}

TEST_F(Spawn, AMoveOnlyFunctionIsCalledOnce) {
  int calls = 0;
  spawn_managed([owned = std::make_unique<int>(3), &calls] { calls += *owned; }).join();
  spawn_raw([owned = std::make_unique<int>(4), &calls] { calls += *owned; }).join();
  EXPECT_EQ(calls, 7);
}

TEST_F(Spawn, WhatTheFunctionOwnsEndsInTheStateThatItRanIn) {
  struct ReadsWhenItEnds {
    ~ReadsWhenItEnds() { *seen = current().seed() + (stash::contains(kInherited) ? 10U : 0U); }
    std::uint64_t* seen;
  };
  std::uint64_t seen = 0;
  {
    const ContextOverride mine(with_seed(2));
    spawn_managed([owned = std::unique_ptr<ReadsWhenItEnds>(new ReadsWhenItEnds{&seen})] {}).join();
  }
  EXPECT_EQ(seen, 12U);
}

TEST_F(Spawn, WhatChildrenHeldIsReleasedWhenTheyAreJoined) {
  (void)current();
  const std::size_t implementations = live_implementations();
  const auto object = stash::get(kInherited);
  {
    const ContextOverride mine(with_seed(2));
    std::vector<std::thread> children;
    for (int i = 0; i < 4; ++i) {
      children.push_back(spawn_managed([] {
        EXPECT_EQ(current().seed(), 2U);
        const ContextOverride inner(with_seed(3));
        EXPECT_EQ(current().seed(), 3U);
        stash::set(kInherited, std::make_shared<int>(9));
      }));
    }
    for (std::thread& child : children) child.join();
  }
  EXPECT_EQ(object.use_count(), 2);
  EXPECT_EQ(live_implementations(), implementations);
}

}  // namespace
}  // namespace weftrt
