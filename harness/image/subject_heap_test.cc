// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: the heap keeps its four promises (subject_heap.h): same addresses and contents in every
// execution, identity of interior pointers, quarantine in order, verdicts instead of aborts.
// Method: exact addresses and bytes; a long random run against a model, repeated after reset().

#include "harness/image/subject_heap.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "harness/base/mapped_object.h"
#include "harness/base/prng.h"

namespace weft::image {
namespace {

constexpr TaskId kFirst = kRootTask.child(0);
constexpr TaskId kSecond = kRootTask.child(1);

BlockEvent by(TaskId task, StepIndex step = 0, const void* site = nullptr) {
  return {.task = task, .step = step, .site = site};
}

class SubjectHeapTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(heap_->ready()); }

  void* take(std::size_t size, std::uint32_t ordinal = 0) {
    return heap_->allocate(size, 16, by(kFirst), ordinal);
  }

  MappedObject<SubjectHeap> heap_ = make_mapped<SubjectHeap>();
};

// A heap with a small quarantine; its address lies elsewhere, so that both can exist.
SubjectHeap::Options small_quarantine(std::size_t bytes) {
  return {.quarantine_bytes = bytes, .address = SubjectHeap::kAddress + SubjectHeap::kRegionBytes};
}

TEST_F(SubjectHeapTest, LivesAtItsFixedAddressAndOwnsIt) {
  auto* block = static_cast<std::byte*>(take(1));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block), SubjectHeap::kAddress);
  EXPECT_TRUE(heap_->owns(block));
  int local = 0;
  EXPECT_FALSE(heap_->owns(&local));
  EXPECT_FALSE(heap_->owns(nullptr));
  EXPECT_FALSE(heap_->owns(reinterpret_cast<void*>(SubjectHeap::kAddress - 1)));
}

TEST_F(SubjectHeapTest, AFreeByAnotherFamilyIsRefused) {
  void* const block = heap_->allocate(8, 16, by(kFirst), 0, AllocationFamily::kNew);
  EXPECT_EQ(heap_->free(block, by(kFirst)), FreeVerdict::kWrongFamily);
  EXPECT_EQ(heap_->find(block).record->state, BlockState::kLive);
  EXPECT_EQ(heap_->free(block, by(kFirst), AllocationFamily::kNewArray), FreeVerdict::kWrongFamily);
  EXPECT_EQ(heap_->free(block, by(kFirst), AllocationFamily::kNew), FreeVerdict::kOk);
  // What is free has no family any more.
  EXPECT_EQ(heap_->free(block, by(kFirst)), FreeVerdict::kDoubleFree);
}

#ifndef WEFT_ASAN

TEST(SubjectHeapGuardTest, AWriteBehindTheEndShowsAtTheFreeAndInTheList) {
  const auto heap = make_mapped<SubjectHeap>(SubjectHeap::Options{
      .address = SubjectHeap::kAddress + SubjectHeap::kRegionBytes, .red_zone_bytes = 1});
  const auto damaged = [&heap] {
    std::vector<void*> blocks;
    heap->overrun([&](const BlockView& block) { blocks.push_back(block.address); });
    return blocks;
  };
  for (const std::size_t size : {0, 1, 15, 16, 100, 4096}) {
    auto* const block = static_cast<char*>(heap->allocate(size, 16, by(kFirst), 0));
    auto* const other = static_cast<char*>(heap->allocate(size, 16, by(kFirst), 1));
    std::memset(block, 'x', size);
    EXPECT_TRUE(damaged().empty()) << size;
    const char before = block[size];
    block[size] = 'x';
    EXPECT_EQ(damaged(), std::vector<void*>{block}) << size;
    EXPECT_EQ(heap->free(block, by(kFirst)), FreeVerdict::kOverrun) << size;
    block[size] = before;
    EXPECT_EQ(heap->free(block, by(kFirst)), FreeVerdict::kOk) << size;
    // A recycled block is guarded anew.
    EXPECT_EQ(heap->free(other, by(kFirst)), FreeVerdict::kOk) << size;
  }
  heap->reset();
  EXPECT_TRUE(damaged().empty());
}

#endif

TEST_F(SubjectHeapTest, ATakenAddressIsReportedNotShared) {
  EXPECT_FALSE(make_mapped<SubjectHeap>()->ready());
}

TEST_F(SubjectHeapTest, BlocksDoNotOverlapAndAreAligned) {
  std::map<std::uintptr_t, std::size_t> blocks;
  for (std::size_t size : {0, 1, 15, 16, 17, 100, 129, 1000, 5000, 70000, 200000}) {
    for (std::size_t alignment : {1, 8, 16, 32, 64, 256, 4096, 65536}) {
      void* block = heap_->allocate(size, alignment, by(kFirst), 0);
      ASSERT_NE(block, nullptr);
      const auto address = reinterpret_cast<std::uintptr_t>(block);
      EXPECT_EQ(address % std::max<std::size_t>(alignment, 16), 0u) << size << " " << alignment;
      EXPECT_EQ(heap_->usable_size(block), size);
      EXPECT_TRUE(blocks.emplace(address, size).second);
    }
  }
  std::uintptr_t end = 0;
  for (const auto& [address, size] : blocks) {
    EXPECT_GE(address, end);
    end = address + size;
  }
}

TEST_F(SubjectHeapTest, FindNamesTheBlockOfAnInteriorPointer) {
  take(24, 0);
  int site = 0;
  auto* block = static_cast<std::byte*>(heap_->allocate(40, 16, by(kSecond, 77, &site), 5));
  for (std::size_t offset : {0u, 1u, 39u, 47u}) {
    const BlockView view = heap_->find(block + offset);
    ASSERT_TRUE(view);
    EXPECT_EQ(view.address, block);
    EXPECT_EQ(view.offset, offset);
    EXPECT_EQ(view.record->size, 40u);
    EXPECT_EQ(view.record->allocated.step, 77u);
    EXPECT_EQ(view.record->allocated.site, &site);
    EXPECT_EQ(view.record->state, BlockState::kLive);
    EXPECT_EQ(view.object(), (ObjectId{kSecond.value, offset, 5, ObjectSpace::kHeap}));
  }
  EXPECT_FALSE(heap_->find(block + 48)) << "the next block has never been handed out";
  EXPECT_FALSE(heap_->find(&site));
}

TEST_F(SubjectHeapTest, FreedBlockIsPoisonedAndSaysWhoFreedIt) {
  auto* block = static_cast<unsigned char*>(take(64, 3));
  std::memset(block, 0x11, 64);
  ASSERT_EQ(heap_->free(block, by(kSecond, 9)), FreeVerdict::kOk);
  EXPECT_EQ(block[0], 0xDB);
  EXPECT_EQ(block[63], 0xDB);
  const BlockView view = heap_->find(block + 8);
  ASSERT_TRUE(view);
  EXPECT_EQ(view.record->state, BlockState::kQuarantined);
  EXPECT_EQ(view.record->allocated.task, kFirst);
  EXPECT_EQ(view.record->freed.task, kSecond);
  EXPECT_EQ(view.record->freed.step, 9u);
  EXPECT_EQ(heap_->usable_size(block), 0u);
}

TEST_F(SubjectHeapTest, MisuseIsAVerdict) {
  auto* block = static_cast<std::byte*>(take(64));
  int local = 0;
  EXPECT_EQ(heap_->free(block + 16, by(kFirst)), FreeVerdict::kInvalidPointer);
  EXPECT_EQ(heap_->free(&local, by(kFirst)), FreeVerdict::kInvalidPointer);
  EXPECT_EQ(heap_->free(block + 64, by(kFirst)), FreeVerdict::kInvalidPointer);
  EXPECT_EQ(heap_->live_blocks(), 1u);
  EXPECT_EQ(heap_->free(block, by(kFirst, 1)), FreeVerdict::kOk);
  EXPECT_EQ(heap_->free(block, by(kSecond, 2)), FreeVerdict::kDoubleFree);
  EXPECT_EQ(heap_->find(block).record->freed.step, 1u) << "the first free is the one on record";
  EXPECT_EQ(heap_->reallocate(block, 10, by(kFirst), 1).verdict, FreeVerdict::kDoubleFree);
  EXPECT_EQ(heap_->reallocate(&local, 10, by(kFirst), 1).verdict, FreeVerdict::kInvalidPointer);
}

TEST(SubjectHeapQuarantineTest, BlocksComeBackOldestFirstAndOnlyWhenPushedOut) {
  auto heap = make_mapped<SubjectHeap>(small_quarantine(3 * 64));
  const auto take = [&] { return heap->allocate(64, 16, by(kFirst), 0); };
  std::vector<void*> blocks;
  for (int i = 0; i < 5; ++i) blocks.push_back(take());
  for (int i = 0; i < 3; ++i) heap->free(blocks[i], by(kFirst));
  EXPECT_EQ(heap->quarantined_bytes(), 3 * 64u);
  void* const fresh = take();
  for (void* old : blocks) EXPECT_NE(fresh, old) << "three blocks fit into the quarantine";
  heap->free(blocks[3], by(kFirst));  // pushes out block 0
  EXPECT_EQ(heap->find(blocks[0]).record->state, BlockState::kFree);
  EXPECT_EQ(heap->find(blocks[1]).record->state, BlockState::kQuarantined);
  EXPECT_EQ(take(), blocks[0]);
  heap->free(blocks[4], by(kFirst));  // pushes out block 1
  EXPECT_EQ(take(), blocks[1]);
}

TEST(SubjectHeapQuarantineTest, WithoutQuarantineABlockIsReusedAtOnce) {
  auto heap = make_mapped<SubjectHeap>(small_quarantine(0));
  void* const block = heap->allocate(100, 16, by(kFirst), 0);
  heap->free(block, by(kFirst));
  EXPECT_EQ(heap->free(block, by(kFirst)), FreeVerdict::kDoubleFree);
  EXPECT_EQ(heap->allocate(100, 16, by(kFirst), 1), block);
  EXPECT_EQ(heap->find(block).record->ordinal, 1u);
}

TEST(SubjectHeapQuarantineTest, RecycledMemoryIsZeroOnlyOnRequest) {
  auto heap = make_mapped<SubjectHeap>(small_quarantine(0));
  auto* block = static_cast<unsigned char*>(heap->allocate(100, 16, by(kFirst), 0));
  heap->free(block, by(kFirst));
  ASSERT_EQ(heap->allocate(100, 16, by(kFirst), 1), block);
  EXPECT_EQ(block[50], 0xDB);
  heap->free(block, by(kFirst));
  ASSERT_EQ(heap->allocate_zeroed(100, by(kFirst), 2), block);
  EXPECT_EQ(std::string(reinterpret_cast<char*>(block), 100), std::string(100, '\0'));
}

TEST_F(SubjectHeapTest, WriteAfterFreeIsSeenInTheQuarantine) {
  auto* block = static_cast<unsigned char*>(take(64, 8));
  heap_->free(block, by(kFirst));
  int found = 0;
  heap_->overwritten([&](const BlockView&) { ++found; });
  EXPECT_EQ(found, 0);
  block[40] = 0;
  heap_->overwritten([&](const BlockView& view) {
    ++found;
    EXPECT_EQ(view.record->ordinal, 8u);
  });
  EXPECT_EQ(found, 1);
}

TEST_F(SubjectHeapTest, ReallocateMovesAndKeepsTheContents) {
  auto* block = static_cast<char*>(take(10, 0));
  std::memcpy(block, "123456789", 10);
  const auto [moved, verdict] = heap_->reallocate(block, 1000, by(kFirst), 1);
  EXPECT_EQ(verdict, FreeVerdict::kOk);
  EXPECT_NE(moved, block);
  EXPECT_STREQ(static_cast<char*>(moved), "123456789");
  EXPECT_EQ(heap_->find(block).record->state, BlockState::kQuarantined);
  EXPECT_EQ(heap_->find(moved).record->ordinal, 1u);
  const auto [shrunk, shrunk_verdict] = heap_->reallocate(moved, 4, by(kFirst), 2);
  EXPECT_EQ(std::string(static_cast<char*>(shrunk), 4), "1234");
  EXPECT_EQ(heap_->live_blocks(), 1u);
}

TEST(SubjectHeapLimitTest, ExceedingItGivesNullAndChangesNothing) {
  SubjectHeap::Options options = small_quarantine(0);
  options.limit_bytes = 1000;
  auto heap = make_mapped<SubjectHeap>(options);
  void* const block = heap->allocate(512, 16, by(kFirst), 0);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(heap->allocate(512, 16, by(kFirst), 1), nullptr);
  EXPECT_EQ(heap->live_bytes(), 512u);
  EXPECT_EQ(heap->reallocate(block, 900, by(kFirst), 1).block, nullptr);
  EXPECT_EQ(heap->find(block).record->state, BlockState::kLive);
  heap->free(block, by(kFirst));
  EXPECT_NE(heap->allocate(512, 16, by(kFirst), 1), nullptr);
  EXPECT_EQ(heap->allocate(kLargestBlock + 1, 16, by(kFirst), 2), nullptr);
  EXPECT_EQ(heap->allocate(SIZE_MAX, 16, by(kFirst), 2), nullptr);
}

TEST(SubjectHeapLimitTest, CountsWhatWasAskedForAndNotWholeBlocks) {
  SubjectHeap::Options options = small_quarantine(0);
  options.limit_bytes = 1000;
  auto heap = make_mapped<SubjectHeap>(options);
  void* const block = heap->allocate(600, 16, by(kFirst), 0);  // in blocks of 640 and 448 bytes
  ASSERT_NE(block, nullptr);
  EXPECT_NE(heap->allocate(400, 16, by(kFirst), 1), nullptr);
  EXPECT_EQ(heap->live_bytes(), 1000u);
  EXPECT_EQ(heap->allocate(1, 16, by(kFirst), 2), nullptr);
  heap->free(block, by(kFirst));
  EXPECT_EQ(heap->live_bytes(), 400u);
}

// What a random program sees: addresses, and all bytes of each block when it gets it.
std::vector<std::tuple<void*, std::string>> run_program(SubjectHeap& heap, std::uint64_t seed) {
  Prng prng(seed);
  std::vector<std::tuple<void*, std::string>> seen;
  std::vector<void*> live;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    if (!live.empty() && prng.chance(0.48)) {
      const std::size_t victim = prng.below(live.size());
      EXPECT_EQ(heap.free(live[victim], by(kFirst, i)), FreeVerdict::kOk);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
      continue;
    }
    const std::size_t size = prng.chance(0.02) ? prng.below(300000) : prng.below(600);
    void* block = heap.allocate(size, 16, by(kFirst, i), i);
    EXPECT_NE(block, nullptr);
    seen.emplace_back(block, std::string(static_cast<char*>(block), size));
    std::memset(block, static_cast<int>(i & 0xff), size);
    live.push_back(block);
  }
  return seen;
}

TEST_F(SubjectHeapTest, ResetGivesTheSameAddressesAndContentsAgain) {
  const auto first = run_program(*heap_, 1);
  EXPECT_GT(first.size(), 1000u);
  heap_->reset();
  EXPECT_EQ(heap_->live_blocks(), 0u);
  EXPECT_EQ(heap_->quarantined_bytes(), 0u);
  EXPECT_FALSE(heap_->find(std::get<0>(first[0])));
  run_program(*heap_, 2);  // a different execution in between
  heap_->reset();
  EXPECT_EQ(run_program(*heap_, 1), first);
}

TEST_F(SubjectHeapTest, WhatComesAfterTheBaselineLiesWhereItDoesWithAnyOther) {
  const auto addresses_after = [](std::uint32_t baseline_blocks) {
    SubjectHeap heap({.address = SubjectHeap::kAddress + 2 * SubjectHeap::kRegionBytes});
    std::vector<void*> baseline;
    for (std::uint32_t i = 0; i < baseline_blocks; ++i) {
      baseline.push_back(heap.allocate(24 + i, 16, by(kFirst), i));
    }
    if (!baseline.empty()) heap.free(baseline.front(), by(kFirst));
    heap.seal();
    return run_program(heap, 4);
  };
  EXPECT_EQ(addresses_after(0), addresses_after(500));
}

TEST_F(SubjectHeapTest, TheBaselineComesBackContentsAndAll) {
  auto* kept = static_cast<char*>(take(32, 0));
  std::strcpy(kept, "static");
  auto* dropped = static_cast<char*>(take(32, 1));
  heap_->free(dropped, by(kFirst, 1));
  heap_->seal();
  std::vector<std::tuple<void*, std::string>> first;
  for (int execution = 0; execution < 3; ++execution) {
    EXPECT_STREQ(kept, "static");
    EXPECT_EQ(heap_->live_blocks(), 1u);
    EXPECT_EQ(heap_->find(kept).record->state, BlockState::kLive);
    EXPECT_EQ(heap_->find(dropped).record->state, BlockState::kFree);
    std::strcpy(kept, "changed");
    if (execution != 1) {
      EXPECT_EQ(heap_->free(kept, by(kSecond)), FreeVerdict::kOk);
    }
    auto seen = run_program(*heap_, 3);
    if (execution == 0) first = seen;
    if (execution == 2) {
      EXPECT_EQ(seen, first);
    }
    heap_->reset();
  }
}

TEST_F(SubjectHeapTest, LeaksAreWhatTheTestLeftBehind) {
  take(16, 0);
  heap_->seal();
  void* const freed = take(16, 1);
  take(1000, 2);
  take(16, 3);
  heap_->free(freed, by(kFirst));
  std::vector<std::uint32_t> ordinals;
  heap_->leaks([&](const BlockView& leak) { ordinals.push_back(leak.record->ordinal); });
  EXPECT_EQ(ordinals, (std::vector<std::uint32_t>{3, 2}));  // by class
}

TEST_F(SubjectHeapTest, LargeBlocksUseMemoryOnlyWhereTouched) {
  // 60 blocks of 1 MiB per execution, a byte touched in each: clearing them whole would take
  // seconds.
  for (int execution = 0; execution < 100; ++execution) {
    for (std::uint32_t i = 0; i < 60; ++i) {
      auto* block = static_cast<char*>(take(1 << 20, i));
      ASSERT_NE(block, nullptr);
      ASSERT_EQ(block[12345], 0);
      block[12345] = 1;
    }
    heap_->reset();
  }
}

#ifdef WEFT_ASAN

SubjectHeap::Options with_red_zones() {
  return {.address = SubjectHeap::kAddress + SubjectHeap::kRegionBytes, .red_zone_bytes = 16};
}

TEST(SubjectHeapShadow, ExactlyTheBlockMayBeTouched) {
  const MappedObject<SubjectHeap> heap = make_mapped<SubjectHeap>(with_red_zones());
  for (const std::size_t size : {0, 1, 7, 8, 13, 16, 100, 5000}) {
    const auto* block = static_cast<char*>(heap->allocate(size, 16, by(kFirst), 0));
    for (std::size_t i = 0; i < size; ++i) ASSERT_FALSE(__asan_address_is_poisoned(block + i));
    for (std::size_t i = 0; i < 16; ++i) {
      EXPECT_TRUE(__asan_address_is_poisoned(block + size + i)) << size;
      EXPECT_TRUE(__asan_address_is_poisoned(block - 1 - i)) << size;
    }
  }
}

TEST(SubjectHeapShadow, FollowsTheBaseline) {
  const MappedObject<SubjectHeap> heap = make_mapped<SubjectHeap>(with_red_zones());
  void* const kept = heap->allocate(24, 16, by(kFirst), 0);
  void* const partly = heap->allocate(24, 16, by(kFirst), 1);
  __asan_poison_memory_region(partly, 8);  // as the subject may do
  void* const freed = heap->allocate(24, 16, by(kFirst), 2);
  heap->free(freed, by(kFirst));
  heap->seal();
  heap->free(kept, by(kSecond));
  __asan_unpoison_memory_region(partly, 24);
  const void* const later = heap->allocate(24, 16, by(kSecond), 0);
  EXPECT_TRUE(__asan_address_is_poisoned(kept));
  heap->reset();
  EXPECT_FALSE(__asan_address_is_poisoned(kept));
  EXPECT_TRUE(__asan_address_is_poisoned(partly));
  EXPECT_TRUE(__asan_address_is_poisoned(freed));
  EXPECT_FALSE(__asan_address_is_poisoned(static_cast<const char*>(later) + 24));
}

#endif

}  // namespace
}  // namespace weft::image
