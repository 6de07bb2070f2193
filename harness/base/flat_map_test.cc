// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: a FlatMap behaves as a map under any mix of insertion, erasure, clearing and growth.
// Method: long random runs against std::unordered_map, with few distinct keys so that probes
// collide.

#include "harness/base/flat_map.h"

#include <gtest/gtest.h>

#include <unordered_map>

#include "harness/base/prng.h"

namespace weft {
namespace {

TEST(FlatMapTest, ZeroAndAllOnesAreKeysLikeAnyOther) {
  FlatMap<int> map;
  EXPECT_EQ(map.find(0), nullptr);
  map[0] = 1;
  map[~std::uint64_t{0}] = 2;
  EXPECT_EQ(*map.find(0), 1);
  EXPECT_EQ(*map.find(~std::uint64_t{0}), 2);
  EXPECT_EQ(map.size(), 2u);
}

TEST(FlatMapTest, TryInsertKeepsAndInsertOverwrites) {
  FlatMap<int> map;
  EXPECT_TRUE(map.try_insert(5, 50).second);
  EXPECT_FALSE(map.try_insert(5, 51).second);
  EXPECT_EQ(*map.find(5), 50);
  map.insert(5, 52);
  EXPECT_EQ(*map.find(5), 52);
  EXPECT_EQ(map.size(), 1u);
}

TEST(FlatMapTest, AgreesWithAModelUnderRandomUse) {
  Prng prng(11);
  FlatMap<std::uint64_t> map(4);
  std::unordered_map<std::uint64_t, std::uint64_t> model;
  for (int step = 0; step < 200000; ++step) {
    const std::uint64_t key = prng.below(300) * 4096;
    switch (prng.below(4)) {
      case 0:
      case 1: {
        const std::uint64_t value = prng.next();
        map.insert(key, value);
        model[key] = value;
        break;
      }
      case 2: ASSERT_EQ(map.erase(key), model.erase(key) == 1); break;
      case 3:
        if (prng.chance(0.001)) {
          map.clear();
          model.clear();
        }
        break;
    }
    ASSERT_EQ(map.size(), model.size());
    const std::uint64_t probe = prng.below(300) * 4096;
    const auto expected = model.find(probe);
    const std::uint64_t* found = map.find(probe);
    ASSERT_EQ(found != nullptr, expected != model.end());
    if (found != nullptr) {
      ASSERT_EQ(*found, expected->second);
    }
  }
}

TEST(FlatMapTest, GrowsWithoutLosingEntries) {
  FlatMap<std::uint64_t> map(1);
  for (std::uint64_t i = 0; i < 100000; ++i) map[i << 12] = i;
  for (std::uint64_t i = 0; i < 100000; ++i) ASSERT_EQ(*map.find(i << 12), i);
  map.clear();
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.find(0), nullptr);
}

}  // namespace
}  // namespace weft
