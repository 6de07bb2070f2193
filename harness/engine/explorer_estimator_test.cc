// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Goal: the estimate is within four standard errors, for few values and for many, and a union
// counts each value once. Method: registers raised as workers raise them, by known numbers of
// distinct digests.

#include "harness/engine/explorer_estimator.h"

#include <gtest/gtest.h>

#include <vector>

#include "harness/base/prng.h"
#include "harness/engine/distinct.h"
#include "harness/trace/channel.h"

namespace weft::engine {
namespace {

using Registers = std::uint8_t[trace::kEstimatorRegisters];

constexpr double kTolerance = 4 * 0.01625;  // 1.04 / sqrt(4096)

void count(Registers& registers, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t value = first; value < last; ++value) {
    count_distinct(registers, mix64(value + kGoldenGamma));
  }
}

TEST(Estimator, IsExactEnoughAtEverySize) {
  for (const std::uint64_t size : {0u, 1u, 10u, 1'000u, 10'000u, 100'000u, 1'000'000u}) {
    Registers registers = {};
    count(registers, 0, size);
    const auto expected = static_cast<double>(size);
    EXPECT_NEAR(estimate_distinct(registers), expected, expected * kTolerance + 0.1) << size;
  }
}

TEST(Estimator, SeeingAValueAgainChangesNothing) {
  Registers once = {};
  count(once, 0, 5'000);
  Registers twice = {};
  count(twice, 0, 5'000);
  count(twice, 0, 5'000);
  EXPECT_EQ(estimate_distinct(once), estimate_distinct(twice));
}

TEST(Estimator, AUnionCountsSharedValuesOnce) {
  Registers left = {};
  Registers right = {};
  Registers both = {};
  count(left, 0, 30'000);
  count(right, 20'000, 50'000);
  count(both, 0, 50'000);
  merge_registers(left, right);
  EXPECT_EQ(estimate_distinct(left), estimate_distinct(both));
}

TEST(Estimator, OfNoRegistersIsNothing) { EXPECT_EQ(estimate_distinct({}), 0); }

}  // namespace
}  // namespace weft::engine
