// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: every kind of static state is as it was at the snapshot, and what must not be restored is
// not. Method: change globals, guards, and library state; restore; look.

#include "harness/image/segments.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <string>

#include "harness/base/mapped_object.h"

namespace weft::image {
namespace {

int counter = 5;             // .data
int zeroed[5000];            // .bss, several pages
std::string text = "short";  // in place: no memory from the heap
int* lazily_made = nullptr;
int excluded[32];

int constructions = 0;
struct Constructed {
  Constructed() { ++constructions; }
};
void use_magic_static() {
  static Constructed once;
  (void)once;
}

// The snapshots cover GoogleTest's own statics too. That is harmless as long as no test part begins
// or ends between snapshot and restore: what a failed expectation records lies in libc's heap.
class SegmentsTest : public testing::Test {
 protected:
  MappedObject<SegmentImage> image_ = make_mapped<SegmentImage>();
};

TEST_F(SegmentsTest, StaticsOfEveryKindComeBack) {
  image_->snapshot();
  counter = 6;
  zeroed[4999] = 1;
  text = "changed";
  lazily_made = &counter;
  image_->restore();
  EXPECT_EQ(counter, 5);
  EXPECT_EQ(zeroed[4999], 0);
  EXPECT_EQ(text, "short");
  EXPECT_EQ(lazily_made, nullptr);
}

TEST_F(SegmentsTest, MagicStaticIsConstructedAgainInEveryExecution) {
  image_->snapshot();
  for (int execution = 0; execution < 3; ++execution) {
    EXPECT_EQ(constructions, 0);
    use_magic_static();
    use_magic_static();
    EXPECT_EQ(constructions, 1);
    image_->restore();
  }
  EXPECT_EQ(constructions, 0);
}

TEST_F(SegmentsTest, LibraryStateComesBackAndLibcStateDoesNot) {
  image_->snapshot();
  EXPECT_TRUE(image_->covers(&std::cout)) << "a copy relocation, or libstdc++'s own object";
  std::cout << std::hex;
  errno = 0;
  char* const before = ::strerror(12345);  // libc keeps a buffer of its own
  const std::string words = before;
  image_->restore();
  EXPECT_TRUE((std::cout.flags() & std::ios::dec) != 0);
  EXPECT_EQ(words, before);
  EXPECT_FALSE(image_->covers(reinterpret_cast<const void*>(&::strerror)));
}

TEST_F(SegmentsTest, ExcludedRangesKeepTheirContents) {
  image_->exclude(&excluded[8], &excluded[16]);
  image_->snapshot();
  for (int& word : excluded) word = 1;
  image_->restore();
  for (int i = 0; i < 32; ++i) EXPECT_EQ(excluded[i], i >= 8 && i < 16 ? 1 : 0) << "at " << i;
  EXPECT_TRUE(image_->covers(&excluded[7]));
  EXPECT_FALSE(image_->covers(&excluded[8]));
  EXPECT_TRUE(image_->covers(&excluded[16]));
  std::memset(excluded, 0, sizeof excluded);
}

TEST_F(SegmentsTest, RestoringTwiceWritesNothingTheSecondTime) {
  image_->snapshot();
  counter = 7;
  EXPECT_GE(image_->restore(), 64u);
  EXPECT_EQ(counter, 5);
  // At most the odd bytes at the ends of ranges, which are copied unseen, one word per range or so.
  EXPECT_LT(image_->restore(), 4096u);
  EXPECT_GT(image_->covered_bytes(), sizeof zeroed);
}

TEST_F(SegmentsTest, ReadOnlyAfterRelocationIsLeftAlone) {
  // A virtual table lies in .data.rel.ro, which restore() could not write to.
  image_->snapshot();
  const testing::EmptyTestEventListener object;
  const void* const vtable = *reinterpret_cast<const void* const*>(&object);
  EXPECT_FALSE(image_->covers(vtable));
}

TEST_F(SegmentsTest, ASnapshotReplacesTheEarlierOne) {
  image_->snapshot();
  counter = 8;
  image_->snapshot();
  counter = 9;
  image_->restore();
  EXPECT_EQ(counter, 8);
  counter = 5;
}

TEST(SegmentsDeathTest, RestoreBeforeSnapshotIsAnInternalError) {
  auto image = make_mapped<SegmentImage>();
  EXPECT_EXIT(image->restore(), testing::ExitedWithCode(3), "restore before take");
}

}  // namespace
}  // namespace weft::image
