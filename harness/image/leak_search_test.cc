// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/image/leak_search.h"

#include <gtest/gtest.h>

#include <vector>

namespace weft::image {
namespace {

class LeakSearchTest : public testing::Test {
 protected:
  void** block(std::size_t words = 2) {
    return static_cast<void**>(heap.allocate_zeroed(words * sizeof(void*), {}, 0));
  }
  std::vector<void*> leaks(void* const* begin, void* const* end) {
    LeakSearch search(heap);
    search.scan(begin, end);
    std::vector<void*> found;
    search.for_each_leak([&](const BlockView& view) { found.push_back(view.address); });
    return found;
  }

  SubjectHeap heap{{.address = SubjectHeap::kAddress + (std::uintptr_t{1} << 44)}};
};

TEST_F(LeakSearchTest, WhatARootRefersToIsNoLeak) {
  void* roots[2] = {block(), nullptr};
  EXPECT_TRUE(leaks(roots, roots + 2).empty());
}

TEST_F(LeakSearchTest, WhatNothingRefersToIsOne) {
  void* roots[1] = {block()};
  void** const lost = block();
  EXPECT_EQ(leaks(roots, roots + 1), std::vector<void*>{lost});
}

TEST_F(LeakSearchTest, ReferencesAreFollowedAlsoIntoTheMiddle) {
  void* roots[1] = {block()};
  void** const second = block();
  void** const third = block(4);
  static_cast<void**>(roots[0])[1] = second;
  second[0] = third + 3;
  EXPECT_TRUE(leaks(roots, roots + 1).empty());
}

TEST_F(LeakSearchTest, ACycleThatNobodyRefersToIsALeak) {
  void** const first = block();
  void** const second = block();
  first[0] = second;
  second[0] = first;
  EXPECT_EQ(leaks(nullptr, nullptr).size(), 2u);
}

TEST_F(LeakSearchTest, FreedBlocksNeitherLeakNorRefer) {
  void** const freed = block();
  void** const lost = block();
  freed[1] = lost;
  ASSERT_EQ(heap.free(freed, {}), FreeVerdict::kOk);
  void* roots[1] = {freed};
  EXPECT_EQ(leaks(roots, roots + 1), std::vector<void*>{lost});
}

TEST_F(LeakSearchTest, TheBaselineIsARootAndNoLeak) {
  void** const before = block();
  heap.seal();
  before[1] = block();
  EXPECT_TRUE(leaks(nullptr, nullptr).empty());
}

}  // namespace
}  // namespace weft::image
