// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: mappings, arena, arrays and vectors hold what was put in, zero what they promise to zero,
// and stop at their bounds. Method: small cases with exact contents; death tests for the bounds.

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include "harness/base/arena.h"
#include "harness/base/mapped_object.h"
#include "harness/base/system_call.h"

namespace weft {
namespace {

struct Pair {
  int first = 1;
  int second = 2;
};

TEST(MappingTest, IsZeroedMovesAndDiscards) {
  Mapping mapping(10);
  ASSERT_EQ(mapping.size(), kPageBytes);
  EXPECT_EQ(mapping.data()[9], std::byte{0});
  mapping.data()[9] = std::byte{7};
  Mapping moved = std::move(mapping);
  EXPECT_TRUE(mapping.empty());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(moved.data()[9], std::byte{7});
  EXPECT_TRUE(moved.contains(moved.data() + kPageBytes - 1));
  EXPECT_FALSE(moved.contains(moved.data() + kPageBytes));
  EXPECT_FALSE(moved.contains(moved.data() - 1));
  moved.discard();
  EXPECT_EQ(moved.data()[9], std::byte{0});
}

TEST(MappingTest, FixedAddressIsHonouredOnceOnly) {
  void* const address = reinterpret_cast<void*>(0x5f0000000000);
  Mapping first = Mapping::at(address, kPageBytes);
  ASSERT_EQ(first.data(), address);
  EXPECT_TRUE(Mapping::at(address, kPageBytes).empty());
  first = Mapping();
}

TEST(ArenaTest, ZeroesAlsoWhatARewindLeftDirty) {
  Arena arena(kPageBytes);
  const Arena::Mark start = arena.mark();
  std::memset(arena.allocate(100), 0xff, 100);
  arena.rewind(start);
  const auto* bytes = static_cast<const unsigned char*>(arena.allocate(200));
  for (int i = 0; i < 200; ++i) ASSERT_EQ(bytes[i], 0) << "at " << i;
}

TEST(ArenaTest, AlignsAndConstructs) {
  Arena arena(kPageBytes);
  arena.allocate(1, 1);
  auto* pair = arena.make<Pair>();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pair) % alignof(Pair), 0u);
  EXPECT_EQ(pair->second, 2);
  const auto pairs = arena.make_array<Pair>(3);
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[2].first, 1);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.allocate(1, 64)) % 64, 0u);
}

TEST(ArenaTest, SameRequestsAfterResetGiveTheSameAddresses) {
  Arena arena(kPageBytes);
  std::vector<void*> first, second;
  for (int i = 1; i < 10; ++i) first.push_back(arena.allocate(i * 3, 8));
  arena.reset();
  for (int i = 1; i < 10; ++i) second.push_back(arena.allocate(i * 3, 8));
  EXPECT_EQ(first, second);
}

TEST(ArenaDeathTest, FullIsAnInternalError) {
  Arena arena(kPageBytes);
  EXPECT_EXIT(arena.allocate(kPageBytes + 1), testing::ExitedWithCode(3), "arena is full");
  EXPECT_EXIT(arena.make_array<Pair>(SIZE_MAX / 4), testing::ExitedWithCode(3), "arena is full");
}

TEST(MappedArrayTest, StartsAsZerosAndChecksItsBounds) {
  MappedArray<std::uint64_t> array(1000);
  EXPECT_EQ(array.size(), 1000u);
  EXPECT_EQ(array[999], 0u);
  array[999] = 5;
  MappedArray<std::uint64_t> moved = std::move(array);
  EXPECT_EQ(moved[999], 5u);
  EXPECT_EQ(array.size(), 0u);  // NOLINT(bugprone-use-after-move)
  EXPECT_EXIT(moved[1000], testing::ExitedWithCode(3), "past the end");
}

TEST(FixedVectorTest, PushEraseAndBounds) {
  FixedVector<int, 4> vector;
  for (int i : {10, 11, 12, 13}) vector.push_back(i);
  EXPECT_TRUE(vector.full());
  EXPECT_FALSE(vector.try_push_back(14));
  vector.erase_at(1);
  EXPECT_EQ(std::vector<int>(vector.begin(), vector.end()), (std::vector<int>{10, 12, 13}));
  const FixedVector<int, 4> copy = vector;
  vector.clear();
  EXPECT_TRUE(vector.empty());
  EXPECT_EQ(copy.back(), 13);
  EXPECT_EXIT((void)copy[3], testing::ExitedWithCode(3), "past the end");
  static_assert(std::is_trivially_copyable_v<FixedVector<Pair, 2>>);
}

TEST(BoundedVectorTest, KeepsAddressesAndDestroys) {
  static int alive = 0;
  struct Counted {
    explicit Counted(int value) : value(value) { ++alive; }
    Counted(const Counted& other) : value(other.value) { ++alive; }
    Counted& operator=(const Counted&) = default;
    ~Counted() { --alive; }
    int value;
  };
  BoundedVector<Counted> vector(8);
  Counted* first = &vector.emplace_back(0);
  for (int i = 1; i < 8; ++i) vector.emplace_back(i);
  EXPECT_EQ(&vector[0], first);
  EXPECT_TRUE(vector.full());
  EXPECT_EXIT(vector.emplace_back(8), testing::ExitedWithCode(3), "BoundedVector is full");
  vector.erase_at(0);
  EXPECT_EQ(vector[0].value, 1);
  EXPECT_EQ(vector.back().value, 7);
  EXPECT_EQ(alive, 7);
  vector.clear();
  EXPECT_EQ(alive, 0);
}

TEST(BoundedVectorTest, LivesInAnArenaOrInGivenStorage) {
  Arena arena(kPageBytes);
  BoundedVector<Pair> in_arena(arena, 4);
  in_arena.resize(3);
  EXPECT_EQ(in_arena[2].second, 2);
  EXPECT_EQ(arena.used(), 4 * sizeof(Pair));
  alignas(8) std::byte storage[24];
  BoundedVector<std::uint64_t> in_place{std::span<std::byte>(storage)};
  EXPECT_EQ(in_place.capacity(), 3u);
  in_place.push_back(9);
  EXPECT_EQ(static_cast<void*>(in_place.data()), static_cast<void*>(storage));
}

TEST(MappedObjectTest, IsConstructedMovedAndDestroyedOnce) {
  static int destroyed = 0;
  struct Tracked {
    explicit Tracked(int value) : value(value) {}
    ~Tracked() { ++destroyed; }
    int value;
  };
  {
    MappedObject<Tracked> object = make_mapped<Tracked>(3);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(object.get()) % kPageBytes, 0u);
    const Tracked* const address = object.get();
    const MappedObject<Tracked> moved = std::move(object);
    EXPECT_EQ(moved.get(), address) << "the object itself never moves";
    EXPECT_EQ(moved->value, 3);
    // NOLINTNEXTLINE(bugprone-use-after-move): that is what is tested
    EXPECT_EXIT(object.get(), testing::ExitedWithCode(3), "after it was moved from");
  }
  EXPECT_EQ(destroyed, 1);
}

TEST(SystemCallTest, PassesSixArgumentsAndLeavesErrnoAlone) {
  EXPECT_EQ(system_call(SYS_getpid), ::getpid());
  errno = EINTR;
  const long result = system_call(SYS_close, -1);
  EXPECT_TRUE(is_error(result));
  EXPECT_EQ(result, -EBADF);
  EXPECT_EQ(errno, EINTR);
  // mmap reads all six: an offset that is no multiple of the page is refused.
  EXPECT_EQ(system_call(SYS_mmap, nullptr, kPageBytes, 0, 0x22, -1, 1), -EINVAL);
}

}  // namespace
}  // namespace weft
