// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: the numbers are Philox's, and depend on seed and position alone however threads draw.

#include "lib/context/random_generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>
#include <vector>

namespace weftrt {
namespace {

// The known answers of the authors' Random123, tests/kat_vectors, philox4x32 with 10 rounds.
TEST(RandomGenerator, AnswersAsThePaperDoes) {
  using detail::PhiloxBlock;
  EXPECT_EQ(detail::philox4x32_10({0, 0, 0, 0}, {0, 0}),
            (PhiloxBlock{0x6627'e8d5, 0xe169'c58d, 0xbc57'ac4c, 0x9b00'dbd8}));
  EXPECT_EQ(detail::philox4x32_10({0xffff'ffff, 0xffff'ffff, 0xffff'ffff, 0xffff'ffff},
                                  {0xffff'ffff, 0xffff'ffff}),
            (PhiloxBlock{0x408f'276d, 0x41c8'3b0e, 0xa20b'c7c6, 0x6d54'51fd}));
  EXPECT_EQ(detail::philox4x32_10({0x243f'6a88, 0x85a3'08d3, 0x1319'8a2e, 0x0370'7344},
                                  {0xa409'3822, 0x299f'31d0}),
            (PhiloxBlock{0xd16c'fe09, 0x94fd'cceb, 0x5001'e420, 0x2412'6ea1}));
}

TEST(RandomGenerator, DrawsByPosition) {
  const RandomGenerator generator(0);
  EXPECT_EQ(generator.at(0), 0xe169'c58d'6627'e8d5U);
  EXPECT_EQ(generator.next(), generator.at(0));
  EXPECT_EQ(generator.next(), generator.at(1));
  EXPECT_EQ(generator.reserve(10), 2U);
  EXPECT_EQ(generator.position(), 12U);
  EXPECT_EQ(generator(), generator.at(12));
  EXPECT_NE(generator.at(0), RandomGenerator(1).at(0));
  EXPECT_NE(generator.at(0), RandomGenerator(1ULL << 40U).at(0));
}

TEST(RandomGenerator, ACopyIsTheSameGenerator) {
  const RandomGenerator one(5);
  RandomGenerator copy(6);
  copy = one;
  const RandomGenerator equal(5);
  EXPECT_EQ(one, equal);
  EXPECT_EQ(one.next(), one.at(0));
  EXPECT_EQ(copy.next(), one.at(1));
  EXPECT_EQ(one, copy);
  EXPECT_FALSE(one == equal) << "they would not draw the same from here on";
}

TEST(RandomGenerator, UniformNumbersAreInRangeAndEven) {
  const RandomGenerator generator(1);
  double sum = 0;
  constexpr int kDraws = 10000;
  for (int i = 0; i < kDraws; ++i) {
    const double drawn = generator.next_uniform();
    ASSERT_GE(drawn, 0.0);
    ASSERT_LT(drawn, 1.0);
    sum += drawn;
  }
  // The mean's standard deviation is 1/sqrt(12 * 10000) = 0.0029; the seed is fixed.
  EXPECT_NEAR(sum / kDraws, 0.5, 0.01);
}

TEST(RandomGenerator, DrivesTheStandardsDistributions) {
  RandomGenerator generator(1);
  std::uniform_int_distribution<int> die(1, 6);
  for (int i = 0; i < 100; ++i) {
    const int face = die(generator);
    EXPECT_GE(face, 1);
    EXPECT_LE(face, 6);
  }
}

// Threads share the positions out among them: together they draw what one would.
TEST(RandomGenerator, NoPositionIsDrawnTwice) {
  constexpr std::size_t kEach = 2000;
  const RandomGenerator generator(9);
  std::vector<std::vector<std::uint64_t>> drawn(3);
  std::vector<std::thread> threads;
  for (auto& mine : drawn) {
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < kEach; ++i) mine.push_back(generator.next());
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<std::uint64_t> together;
  for (const auto& mine : drawn) together.insert(together.end(), mine.begin(), mine.end());
  std::vector<std::uint64_t> expected;
  for (std::uint64_t i = 0; i < drawn.size() * kEach; ++i) expected.push_back(generator.at(i));
  std::sort(together.begin(), together.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(together, expected);
}

}  // namespace
}  // namespace weftrt
