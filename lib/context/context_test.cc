// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: the invariants of context.h, by number where a test is about one.
// Method: right values on one thread, then threads against each other. The global context is the
// process's, so each test compares with what it found and leaves it as it was.

#include "lib/context/context.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace weftrt {
namespace {

constexpr PropertyKey<std::int64_t> kStreams{"streams"};

// docs/cases.md 12: the first reads of a process race to create the global context. GoogleTest runs
// DeathTest suites first, so this process has no global context yet, and each fork makes its own.
TEST(FirstUseDeathTest, RacingFirstReadsCreateOneGlobalContext) {
  ASSERT_EQ(live_implementations(), 0U) << "the context was used before: not a first use";
  GTEST_FLAG_SET(death_test_style, "fast");
  const auto wrong_readers = [] {
    constexpr int kReaders = 3;
    std::barrier steps(kReaders + 1);
    std::atomic<int> wrong{0};
    std::vector<std::thread> readers;
    for (int i = 0; i < kReaders; ++i) {
      readers.emplace_back([&] {
        steps.arrive_and_wait();
        (void)current();
        steps.arrive_and_wait();  // all have read
        steps.arrive_and_wait();  // the context has changed
        if (current().seed() != 77) ++wrong;
      });
    }
    steps.arrive_and_wait();
    steps.arrive_and_wait();
    if (live_implementations() != 1) ++wrong;
    update_global([](ContextImpl& impl) { impl.seed_all(77); });
    steps.arrive_and_wait();
    for (std::thread& reader : readers) reader.join();
    return wrong.load();
  };
  for (int round = 0; round < 20; ++round)
    EXPECT_EXIT(std::_Exit(wrong_readers()), ::testing::ExitedWithCode(0), "");
}

class Context : public ::testing::Test {
 protected:
  void SetUp() override {
    (void)swap_global(ContextImpl{});
    (void)current();
  }
};

void set_seed(std::uint64_t seed) {
  update_global([seed](ContextImpl& impl) { impl.seed_all(seed); });
}

TEST_F(Context, StartsWithTheDefaults) {
  EXPECT_EQ(current(), ContextImpl{});
  EXPECT_EQ(current().seed(), RandomGenerator::kDefaultSeed);
  void* const memory = current().on(DeviceKind::kCpu).allocator.allocate(16);
  ASSERT_NE(memory, nullptr);
  current().on(DeviceKind::kCpu).allocator.deallocate(memory, 16);
}

TEST_F(Context, AnUpdateChangesWhatItNamesAndKeepsTheRest) {
  update_global([](ContextImpl& impl) { impl.properties.set(kStreams, std::int64_t{3}); });
  set_seed(9);
  EXPECT_EQ(current().seed(), 9U);
  EXPECT_EQ(*current().properties.find(kStreams), 3);
}

TEST_F(Context, SwapReturnsWhatItReplaced) {
  set_seed(11);
  ContextImpl next;
  next.seed_all(12);
  EXPECT_EQ(swap_global(next).seed(), 11U);
  EXPECT_EQ(current(), next);
}

TEST_F(Context, GenerationCountsChanges) {
  const std::uint64_t before = generation();
  set_seed(1);
  EXPECT_EQ(generation(), before + 1);
  (void)swap_global(ContextImpl{});
  EXPECT_EQ(generation(), before + 2);
  EXPECT_EQ(pin().generation(), before + 2);
}

// A fixed bug: the edit started again, and again, for ever.
TEST_F(Context, AChangeWithinAnEditOfItIsRefused) {
  set_seed(1);
  const std::uint64_t changes = generation();
  EXPECT_THROW(update_global([](ContextImpl& impl) {
                 impl.seed_all(2);
                 set_seed(3);
               }),
               std::logic_error);
  EXPECT_THROW(update_global([](ContextImpl& impl) {
                 impl.seed_all(2);
                 (void)swap_global(ContextImpl{});
               }),
               std::logic_error);
  EXPECT_EQ(current().seed(), 1U);
  EXPECT_EQ(generation(), changes);
}

struct Lack {
  void (*make)(ContextImpl&);
  const char* told;
};
const Lack kLacks[] = {
    {[](ContextImpl& impl) { impl.on(DeviceKind::kCpu).facts = nullptr; },
     "a context for device kind 'cpu': null facts"},
    {[](ContextImpl& impl) { impl.on(DeviceKind::kCuda) = DeviceContext{}; },
     "a context for device kind 'cuda': null facts"},
    {[](ContextImpl& impl) { impl.on(DeviceKind::kCuda).allocator.allocate_fn = nullptr; },
     "a context for device kind 'cuda': null allocator.allocate_fn"},
    {[](ContextImpl& impl) { impl.on(DeviceKind::kCpu).allocator.deallocate_fn = nullptr; },
     "a context for device kind 'cpu': null allocator.deallocate_fn"},
};

template <class Action>
std::string refusal_of(Action&& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

// A fixed bug: it was published, and the next reader that used it crashed.
TEST_F(Context, WhatLacksFactsOrAFunctionIsRefused) {
  set_seed(1);
  const ContextPin before = pin();
  const std::uint64_t changes = generation();
  const std::size_t alive = live_implementations();
  for (const Lack& lack : kLacks) {
    ContextImpl next;
    next.seed_all(2);
    lack.make(next);
    EXPECT_EQ(refusal_of([&] { (void)swap_global(next); }), lack.told);
    EXPECT_EQ(refusal_of([&] {
                update_global([&](ContextImpl& impl) {
                  impl.seed_all(2);
                  lack.make(impl);
                });
              }),
              lack.told);
    EXPECT_EQ(&current(), &*before);
    EXPECT_EQ(generation(), changes);
    EXPECT_EQ(live_implementations(), alive);
  }
}

TEST_F(Context, AnEditMayRead) {
  set_seed(1);
  update_global([](ContextImpl& impl) {
    const ContextPin now = pin();
    EXPECT_EQ(now.generation(), generation());
    impl.seed_all(current().seed() + now->seed());
    std::thread([] { EXPECT_EQ(current().seed(), 1U); }).join();
  });
  EXPECT_EQ(current().seed(), 2U);
}

// Invariant 2.
TEST_F(Context, AReferenceIsValidUntilTheNextRead) {
  set_seed(1);
  const ContextImpl& old = current();
  set_seed(2);
  (void)generation();
  EXPECT_EQ(old.seed(), 1U);
  EXPECT_EQ(current().seed(), 2U);
}

// Invariant 3, and pins that end in another order than they began.
TEST_F(Context, APinKeepsItsImplementationAcrossChanges) {
  const std::size_t before = live_implementations();
  set_seed(1);
  {
    const ContextPin outer = pin();
    const ContextPin twin = pin();
    set_seed(2);
    {
      const ContextPin inner = pin();
      set_seed(3);
      EXPECT_EQ(current().seed(), 3U);
      EXPECT_EQ(inner->seed(), 2U);
      EXPECT_EQ(outer->seed(), 1U);
      EXPECT_EQ(twin->seed(), 1U);
      EXPECT_EQ(live_implementations(), before + 2);
    }
    EXPECT_EQ(live_implementations(), before + 1);
    EXPECT_EQ(outer->seed(), 1U);
  }
  EXPECT_EQ(live_implementations(), before);
}

TEST_F(Context, APinOfWhatIsStillCurrentCostsNoImplementation) {
  const std::size_t before = live_implementations();
  {
    const ContextPin a = pin();
    const ContextPin b = pin();
    EXPECT_EQ(&*a, &*b);
    EXPECT_EQ(live_implementations(), before);
  }
  EXPECT_EQ(live_implementations(), before);
}

// Invariant 4.
TEST_F(Context, AThreadSeesEachChangeThatHappenedBefore) {
  constexpr std::uint64_t kRounds = 200;
  std::barrier round(2);
  std::thread reader([&] {
    for (std::uint64_t i = 1; i <= kRounds; ++i) {
      round.arrive_and_wait();
      EXPECT_EQ(current().seed(), i);
      round.arrive_and_wait();
    }
  });
  for (std::uint64_t i = 1; i <= kRounds; ++i) {
    set_seed(i);
    round.arrive_and_wait();
    round.arrive_and_wait();
  }
  reader.join();
}

// Invariant 5: what a thread holds goes when the thread ends.
TEST_F(Context, AThreadThatEndsReleasesWhatItRead) {
  const std::size_t before = live_implementations();
  std::barrier steps(2);
  std::thread reader([&] {
    EXPECT_EQ(current(), ContextImpl{});
    steps.arrive_and_wait();
    steps.arrive_and_wait();
  });
  steps.arrive_and_wait();
  set_seed(1);
  (void)current();
  EXPECT_EQ(live_implementations(), before + 1);
  steps.arrive_and_wait();
  reader.join();
  EXPECT_EQ(live_implementations(), before);
}

// Reads in its destructor: after the thread's slot was released, if made before the first read.
struct ReadsWhenItEnds {
  ~ReadsWhenItEnds() {
    if (seed != nullptr) *seed = current().seed();
  }
  std::uint64_t* seed = nullptr;
};

TEST_F(Context, AThreadLocalDestructorMayRead) {
  const std::size_t before = live_implementations();
  set_seed(5);
  std::uint64_t seen_early = 0;
  std::uint64_t seen_late = 0;
  std::thread([&] {
    static thread_local ReadsWhenItEnds destroyed_last;
    destroyed_last.seed = &seen_late;
    static thread_local ReadsWhenItEnds destroyed_second;
    destroyed_second.seed = &seen_late;
    (void)current();
    static thread_local ReadsWhenItEnds destroyed_first;
    destroyed_first.seed = &seen_early;
  }).join();
  EXPECT_EQ(seen_early, 5U);
  EXPECT_EQ(seen_late, 5U);
  set_seed(6);
  (void)current();
  EXPECT_EQ(live_implementations(), before);
}

// A destructor of pthread_key_create() runs when all thread_locals, and what the thread held, are
// gone.
TEST_F(Context, AKeyDestructorMayRead) {
  const std::size_t before = live_implementations();
  static std::uint64_t seen = 0;
  pthread_key_t key;
  ASSERT_EQ(pthread_key_create(&key, [](void* /*value*/) { seen = pin()->seed(); }), 0);
  set_seed(5);
  std::thread([&] {
    (void)current();
    pthread_setspecific(key, &key);
    set_seed(6);
  }).join();
  pthread_key_delete(key);
  EXPECT_EQ(seen, 6U);
  set_seed(7);
  (void)current();
  EXPECT_EQ(live_implementations(), before);
}

TEST_F(Context, APinThatOutlivesItsThreadsSlotStillHolds) {
  const std::size_t before = live_implementations();
  struct PinsUntilItEnds {
    ~PinsUntilItEnds() {
      EXPECT_EQ((*held)->seed(), 5U);
      delete held;
    }
    const ContextPin* held = nullptr;
  };
  set_seed(5);
  std::thread([&] {
    static thread_local PinsUntilItEnds late;
    late.held = new ContextPin(pin());
    set_seed(6);
  }).join();
  (void)current();
  EXPECT_EQ(live_implementations(), before);
}

using ContextDeathTest = Context;

TEST_F(ContextDeathTest, APinDestroyedOnAnotherThreadIsNamed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto* const foreign = new ContextPin(pin());
        std::thread([foreign] { delete foreign; }).join();
      },
      "weftrt: a context pin was destroyed on another thread");
}

// docs/cases.md 13: two allocators; each marks what it allocates and refuses what the other did.
struct MarkedHeap {
  std::uint64_t mark;
  std::atomic<int> mismatches{0};
};

void* marked_allocate(void* state, std::size_t bytes) {
  auto* const memory = static_cast<std::uint64_t*>(std::malloc(bytes + sizeof(std::uint64_t)));
  *memory = static_cast<MarkedHeap*>(state)->mark;
  return memory + 1;
}
void marked_deallocate(void* state, void* memory, std::size_t /*bytes*/) {
  auto* const heap = static_cast<MarkedHeap*>(state);
  auto* const start = static_cast<std::uint64_t*>(memory) - 1;
  if (*start != heap->mark) ++heap->mismatches;
  std::free(start);
}

TEST_F(Context, AnAllocatorIsNeverTornAndTheBoundHoldsMeanwhile) {
  constexpr int kSwaps = 4000;
  constexpr std::size_t kReaders = 3;
  static MarkedHeap heaps[2] = {{.mark = 0xA}, {.mark = 0xB}};
  const auto use = [](int i) {
    return Allocator{.allocate_fn = &marked_allocate,
                     .deallocate_fn = &marked_deallocate,
                     .state = &heaps[i % 2],
                     .flags = i % 2 == 0 ? AllocatorFlags::kNone : AllocatorFlags::kZeroFilled};
  };
  update_global([&](ContextImpl& impl) { impl.on(DeviceKind::kCpu).allocator = use(0); });
  (void)current();

  std::atomic<bool> done{false};
  std::atomic<int> torn{0};
  std::atomic<std::size_t> most_alive{0};
  std::vector<std::thread> readers;
  for (std::size_t r = 0; r < kReaders; ++r) {
    readers.emplace_back([&] {
      while (!done.load()) {
        const ContextPin pinned = pin();
        void* const memory = pinned->on(DeviceKind::kCpu).allocator.allocate(32);
        const Allocator now = current().on(DeviceKind::kCpu).allocator;
        if (has(now.flags, AllocatorFlags::kZeroFilled) != (now.state == &heaps[1])) ++torn;
        pinned->on(DeviceKind::kCpu).allocator.deallocate(memory, 32);
      }
    });
  }
  for (int i = 1; i <= kSwaps; ++i) {
    update_global([&](ContextImpl& impl) { impl.on(DeviceKind::kCpu).allocator = use(i); });
    most_alive = std::max(most_alive.load(), live_implementations());
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(torn.load(), 0);
  EXPECT_EQ(heaps[0].mismatches.load() + heaps[1].mismatches.load(), 0);
  // The readers with a pin each, and this thread, which read once and writes.
  EXPECT_LE(most_alive.load(), (kReaders + 1) + kReaders + 2);
  (void)current();
  EXPECT_EQ(live_implementations(), 1U);
}

TEST_F(Context, ConcurrentUpdatesAreAllKept) {
  constexpr std::uint64_t kEach = 3000;
  set_seed(0);
  const std::uint64_t before = generation();
  std::vector<std::thread> writers;
  for (int w = 0; w < 3; ++w) {
    writers.emplace_back([] {
      for (std::uint64_t i = 0; i < kEach; ++i)
        update_global([](ContextImpl& impl) { impl.seed_all(impl.seed() + 1); });
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(current().seed(), 3 * kEach);
  EXPECT_EQ(generation(), before + 3 * kEach);
}

}  // namespace
}  // namespace weftrt
