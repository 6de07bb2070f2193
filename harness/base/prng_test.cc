// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: the numbers are those of the published algorithms, the same everywhere, and without bias.
// Method: reference values from the authors' C code; exact counts over whole ranges; compile-time
// evaluation.

#include "harness/base/prng.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace weft {
namespace {

TEST(PrngTest, SplitMix64MatchesTheReference) {
  // First outputs of Vigna's splitmix64.c for the seed 1234567.
  SplitMix64 words(1234567);
  EXPECT_EQ(words.next(), 6457827717110365317u);
  EXPECT_EQ(words.next(), 3203168211198807973u);
  EXPECT_EQ(words.next(), 9817491932198370423u);
}

// The reference update of xoshiro256starstar.c, written out independently of the class.
struct ReferenceXoshiro {
  std::array<std::uint64_t, 4> s;
  static std::uint64_t rotl(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  std::uint64_t next() {
    const std::uint64_t result = rotl(s[1] * 5, 7) * 9;
    const std::uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return result;
  }
};

TEST(PrngTest, XoshiroMatchesTheReference) {
  SplitMix64 seeds(42);
  ReferenceXoshiro reference{};
  for (std::uint64_t& word : reference.s) word = seeds.next();
  Prng prng(42);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(prng.next(), reference.next()) << "at " << i;
}

TEST(PrngTest, IsUsableAtCompileTime) {
  constexpr std::uint64_t kDrawn = [] {
    Prng prng(7);
    prng.next();
    return prng.below(10);
  }();
  Prng prng(7);
  prng.next();
  EXPECT_EQ(prng.below(10), kDrawn);
}

TEST(PrngTest, BelowStaysBelowAndReachesEverything) {
  Prng prng(1);
  for (std::uint64_t bound : {1u, 2u, 3u, 7u, 64u}) {
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 2000; ++i) {
      const std::uint64_t value = prng.below(bound);
      ASSERT_LT(value, bound);
      seen.insert(value);
    }
    EXPECT_EQ(seen.size(), bound);
  }
}

TEST(PrngTest, BelowIsUnbiasedWhereAPlainMultiplyIsNot) {
  // With bound 3 * 2^62, the unrejected product gives every third value twice the weight of the
  // others.
  constexpr std::uint64_t kBound = 3ull << 62;
  Prng prng(2);
  std::array<int, 3> residues{};
  constexpr int kDraws = 60000;
  for (int i = 0; i < kDraws; ++i) ++residues[prng.below(kBound) % 3];
  // A fair share is 20000 with a standard deviation of 115; the biased one would be 30000, 15000,
  // 15000.
  for (int count : residues) EXPECT_NEAR(count, kDraws / 3.0, 700);
}

TEST(PrngTest, BetweenIncludesBothEnds) {
  Prng prng(3);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 200; ++i) seen.insert(prng.between(5, 7));
  EXPECT_EQ(seen, (std::set<std::uint64_t>{5, 6, 7}));
  Prng twin = prng;
  EXPECT_EQ(prng.between(0, ~std::uint64_t{0}), twin.next());
}

TEST(PrngTest, ChanceHitsItsProbability) {
  Prng prng(4);
  int hits = 0;
  for (int i = 0; i < 100000; ++i) hits += prng.chance(0.1);
  EXPECT_NEAR(hits, 10000, 500);  // standard deviation 95
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(prng.chance(0.0));
    EXPECT_TRUE(prng.chance(1.0));
  }
}

TEST(PrngTest, SplitGivesDifferentButRepeatableStreams) {
  Prng parent(5), twin(5);
  Prng first = parent.split(1), second = parent.split(1), again = twin.split(1);
  const std::uint64_t drawn = first.next();
  EXPECT_NE(drawn, second.next());
  EXPECT_EQ(drawn, again.next());
}

TEST(PrngTest, MixIsInjectiveOnASample) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < 10000; ++i) seen.insert(mix64(i));
  EXPECT_EQ(seen.size(), 10000u);
  EXPECT_NE(hash_text("libc.so.6", 9), hash_text("libm.so.6", 9));
}

TEST(PrngDeathTest, ChoiceAmongNothingIsAnInternalError) {
  EXPECT_EXIT(Prng(1).below(0), testing::ExitedWithCode(3), "no candidates");
}

}  // namespace
}  // namespace weft
