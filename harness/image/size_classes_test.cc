// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: each size gets the smallest class that holds it, and the division by multiplication is
// exact. Method: every size up to 128 KiB, the edges above; for each class, offsets around every
// kind of edge.

#include "harness/image/size_classes.h"

#include <gtest/gtest.h>

#include "harness/base/prng.h"

namespace weft::image {
namespace {

TEST(SizeClassesTest, EachSizeGetsTheSmallestClassThatHoldsIt) {
  const auto check = [](std::size_t size) {
    const std::uint32_t size_class = size_class_of(size);
    ASSERT_LT(size_class, kSizeClasses);
    ASSERT_GE(kBlockBytes[size_class], size);
    if (size_class > 0) {
      ASSERT_LT(kBlockBytes[size_class - 1], size);
    }
  };
  for (std::size_t size = 1; size <= 131072; ++size) check(size);
  for (std::size_t size = 131072; size <= kLargestBlock; size *= 2) {
    check(size - 1);
    check(size);
    if (size < kLargestBlock) check(size + 1);
  }
}

TEST(SizeClassesTest, SlackIsAtMostAFifthUpTo64KiB) {
  for (std::size_t size = 129; size <= 65536; ++size) {
    ASSERT_LE((kBlockBytes[size_class_of(size)] - size) * 5, kBlockBytes[size_class_of(size)]);
  }
}

TEST(SizeClassesTest, BlocksAreMultiplesOfSixteen) {
  for (std::uint32_t bytes : kBlockBytes) EXPECT_EQ(bytes % 16, 0u);
  EXPECT_EQ(kBlockBytes[kSizeClasses - 1], kLargestBlock);
}

TEST(SizeClassesTest, DivisionIsExact) {
  Prng prng(1);
  for (std::uint32_t c = 0; c < kSizeClasses; ++c) {
    const std::uint32_t bytes = kBlockBytes[c];
    for (int i = 0; i < 20000; ++i) {
      const auto offset = static_cast<std::uint32_t>(prng.below(kLargestBlock));
      ASSERT_EQ(kBlockDividers[c].quotient(offset), offset / bytes) << offset << " / " << bytes;
      const std::uint32_t edge = offset / bytes * bytes;
      ASSERT_EQ(kBlockDividers[c].quotient(edge), edge / bytes) << edge << " / " << bytes;
      if (edge != 0) {
        ASSERT_EQ(kBlockDividers[c].quotient(edge - 1), (edge - 1) / bytes);
      }
    }
  }
}

}  // namespace
}  // namespace weft::image
