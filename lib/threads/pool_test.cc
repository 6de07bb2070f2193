// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: the invariants of pool.h: state around work, once or dropped, given up before it is ready.
// Method: one thread or few, and work that waits for the test where the order matters.

#include "lib/threads/pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "lib/stash/stash.h"

namespace weftrt {
namespace {

const StashKey<int> kInherited("pool_test.inherited", StashRule::kReplace);

ContextImpl with_seed(std::uint64_t seed) {
  ContextImpl impl;
  impl.seed_all(seed);
  return impl;
}

class Pool : public ::testing::Test {
 protected:
  void SetUp() override { (void)swap_global(with_seed(1)); }
  void TearDown() override { (void)stash::erase(kInherited); }
};

TEST_F(Pool, WorkRunsUnderTheStateOfItsSubmitter) {
  ManagedPool pool(1);
  {
    const ContextOverride mine(with_seed(2));
    stash::set(kInherited, std::make_shared<int>(5));
    EXPECT_EQ(pool.submit([] { return current().seed() + *stash::get(kInherited); }).get(), 7U);
    stash::set(kInherited, std::make_shared<int>(6));
    EXPECT_EQ(pool.submit([] { return *stash::get(kInherited); }).get(), 6);
    (void)stash::erase(kInherited);
  }
  // Between two pieces of work the thread is as a raw one.
  EXPECT_EQ(pool.submit([] { return current().seed(); }).get(), 1U);
  EXPECT_FALSE(pool.submit([] { return stash::contains(kInherited); }).get());
}

TEST_F(Pool, TheStateIsThatOfTheMomentOfSubmission) {
  ManagedPool pool(1);
  std::latch go(1);
  auto blocker = pool.submit([&] { go.wait(); });
  stash::set(kInherited, std::make_shared<int>(5));
  auto seen = pool.submit([] { return *stash::get(kInherited); });
  stash::set(kInherited, std::make_shared<int>(6));
  go.count_down();
  blocker.get();
  EXPECT_EQ(seen.get(), 5);
}

TEST_F(Pool, AnExceptionIsTheFuturesAndTheStateIsUnwound) {
  ManagedPool pool(1);
  stash::set(kInherited, std::make_shared<int>(5));
  auto failed = pool.submit([]() -> int {
    const ContextOverride inner(with_seed(3));
    throw std::runtime_error("work failed");
  });
  EXPECT_THROW((void)failed.get(), std::runtime_error);
  (void)stash::erase(kInherited);
  EXPECT_FALSE(pool.submit([] { return stash::contains(kInherited); }).get());
  EXPECT_EQ(pool.submit([] { return current().seed(); }).get(), 1U);
}

// Invariant 2.
TEST_F(Pool, CapturesAndStateAreGivenUpBeforeTheFutureIsReady) {
  ManagedPool pool(1);
  auto inherited = std::make_shared<int>(5);
  auto captured = std::make_shared<int>(6);
  stash::set(kInherited, inherited);
  for (int round = 0; round < 200; ++round) {
    EXPECT_EQ(pool.submit([captured] { return *captured; }).get(), 6);
    EXPECT_EQ(captured.use_count(), 1);
    EXPECT_EQ(inherited.use_count(), 2);
  }
}

TEST_F(Pool, WorkThatCannotBeCopiedIsMoved) {
  ManagedPool pool(2);
  auto result =
      pool.submit([owned = std::make_unique<int>(8)]() mutable { return std::move(owned); });
  EXPECT_EQ(*result.get(), 8);
}

TEST_F(Pool, FinishRunsWhatIsQueuedInOrder) {
  std::vector<int> order;
  ManagedPool pool(1);
  std::latch go(1);
  std::vector<std::future<void>> futures;
  futures.push_back(pool.submit([&] { go.wait(); }));
  for (int i = 0; i < 20; ++i) futures.push_back(pool.submit([&order, i] { order.push_back(i); }));
  std::thread opener([&] { go.count_down(); });
  pool.finish();
  opener.join();
  for (auto& future : futures) EXPECT_NO_THROW(future.get());
  ASSERT_EQ(order.size(), 20U);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
  EXPECT_THROW((void)pool.submit([] {}), PoolShutDown);
  EXPECT_THROW(pool.parallel_for(0, 2, [](std::size_t) {}), PoolShutDown);
  pool.finish();
}

TEST_F(Pool, TheDestructorRunsWhatIsQueued) {
  std::atomic<int> ran{0};
  {
    ManagedPool pool(2);
    for (int i = 0; i < 50; ++i) (void)pool.submit([&] { ++ran; });
  }
  EXPECT_EQ(ran, 50);
}

// Shut-down with work queued: dropped work is given up, and its future says so.
TEST_F(Pool, CancelDropsWhatIsQueuedAndSaysSo) {
  ManagedPool pool(1);
  std::latch begun(1);
  std::latch go(1);
  auto running = pool.submit([&] {
    begun.count_down();
    go.wait();
    return 1;
  });
  auto captured = std::make_shared<int>(6);
  auto inherited = std::make_shared<int>(5);
  stash::set(kInherited, inherited);
  auto queued = pool.submit([captured] { return *captured; });
  (void)stash::erase(kInherited);
  EXPECT_EQ(inherited.use_count(), 2) << "the queued work holds its submitter's state";
  begun.wait();
  std::thread canceller([&] { pool.cancel(); });
  queued.wait();  // told before the running work has ended
  EXPECT_EQ(running.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  go.count_down();
  canceller.join();
  try {
    (void)queued.get();
    ADD_FAILURE() << "dropped work had a result";
  } catch (const std::future_error& error) {
    EXPECT_EQ(error.code(), std::future_errc::broken_promise);
  }
  EXPECT_EQ(running.get(), 1);
  EXPECT_EQ(captured.use_count(), 1);
  EXPECT_EQ(inherited.use_count(), 1);
}

TEST_F(Pool, SeveralThreadsMayEndIt) {
  ManagedPool pool(2);
  std::atomic<int> ran{0};
  for (int i = 0; i < 20; ++i) (void)pool.submit([&] { ++ran; });
  std::thread other([&] { pool.finish(); });
  pool.finish();
  EXPECT_EQ(ran, 20);
  other.join();
}

TEST_F(Pool, WorkCannotWaitForItsPoolsEnd) {
  ManagedPool pool(1);
  EXPECT_THROW(pool.submit([&] { pool.finish(); }).get(), std::logic_error);
  EXPECT_EQ(pool.submit([] { return 1; }).get(), 1) << "the pool is as it was";
}

TEST_F(Pool, NoThreadsAreRefused) { EXPECT_THROW(ManagedPool(0), std::invalid_argument); }

TEST_F(Pool, ALoopCallsEachIndexOnceInTheCallersState) {
  ManagedPool pool(2);
  const ContextOverride mine(with_seed(2));
  auto inherited = std::make_shared<int>(5);
  stash::set(kInherited, inherited);
  constexpr std::size_t kCalls = 300;
  std::vector<std::atomic<int>> calls(kCalls);
  std::atomic<int> wrong_state{0};
  pool.parallel_for(0, kCalls, [&](std::size_t i) {
    ++calls[i];
    if (current().seed() != 2 || *stash::get(kInherited) != 5) ++wrong_state;
  });
  for (const auto& count : calls) EXPECT_EQ(count, 1);
  EXPECT_EQ(wrong_state, 0);
  EXPECT_EQ(inherited.use_count(), 2) << "the state is given up when the loop returns";
}

TEST_F(Pool, AnEmptyLoopCallsNothing) {
  ManagedPool pool(1);
  pool.parallel_for(3, 3, [](std::size_t) { ADD_FAILURE(); });
  pool.parallel_for(4, 3, [](std::size_t) { ADD_FAILURE(); });
}

TEST_F(Pool, ALoopsFirstExceptionEndsItAndIsThrown) {
  ManagedPool pool(2);
  std::atomic<int> calls{0};
  const auto loop = [&] {
    pool.parallel_for(0, 10000, [&](std::size_t) {
      ++calls;
      throw std::runtime_error("call failed");
    });
  };
  EXPECT_THROW(loop(), std::runtime_error);
  EXPECT_GE(calls, 1);
  EXPECT_LE(calls, 3) << "the caller and two helpers may each have begun one";
  EXPECT_EQ(pool.submit([] { return 1; }).get(), 1);
}

// Every thread of the pool is busy with a loop that starts another: nobody waits for a free thread.
TEST_F(Pool, LoopsNestInWorkOfTheSamePool) {
  ManagedPool pool(2);
  std::atomic<int> calls{0};
  pool.parallel_for(0, 4,
                    [&](std::size_t) { pool.parallel_for(0, 8, [&](std::size_t) { ++calls; }); });
  EXPECT_EQ(calls, 32);
  EXPECT_EQ(pool.submit([&] {
                  int sum = 0;
                  pool.parallel_for(1, 2, [&](std::size_t i) { sum += static_cast<int>(i); });
                  return sum;
                })
                .get(),
            1);
}

TEST_F(Pool, ItsThreadsHoldNoContextAfterItIsGone) {
  (void)current();
  const std::size_t before = live_implementations();
  {
    ManagedPool pool(2);
    const ContextOverride mine(with_seed(4));
    pool.parallel_for(0, 50, [](std::size_t) { EXPECT_EQ(current().seed(), 4U); });
  }
  (void)current();
  EXPECT_EQ(live_implementations(), before);
}

// Work of many submitters, each under its own override and with its own stash.
TEST_F(Pool, SubmittersDoNotSeeEachOthersState) {
  ManagedPool pool(2);
  std::atomic<int> wrong{0};
  std::vector<std::thread> submitters;
  for (int s = 1; s <= 3; ++s) {
    submitters.emplace_back([&, s] {
      const ContextOverride mine(with_seed(static_cast<std::uint64_t>(s)));
      stash::set(kInherited, std::make_shared<int>(s));
      for (int i = 0; i < 100; ++i) {
        auto seen = pool.submit(
            [] { return std::pair(static_cast<int>(current().seed()), *stash::get(kInherited)); });
        if (seen.get() != std::pair(s, s)) ++wrong;
      }
    });
  }
  for (std::thread& submitter : submitters) submitter.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace weftrt
