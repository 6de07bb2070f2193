// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: made exactly once, whoever asks first; nothing kept of an attempt that throws. What fork()
// leaves half made is in threads/fork_test.cc.

#include "lib/base/lazy.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <stdexcept>
#include <thread>
#include <vector>

namespace weftrt::detail {
namespace {

TEST(Lazy, IsMadeWhenFirstAskedFor) {
  const Lazy<int> value;
  int made = 0;
  const auto make = [&] { return ++made; };
  EXPECT_EQ(made, 0);
  EXPECT_EQ(value.get(make), 1);
  EXPECT_EQ(value.get(make), 1);
  EXPECT_EQ(made, 1);
}

TEST(Lazy, IsMadeOnceWhenManyAskFirst) {
  constexpr int kThreads = 4;
  for (int round = 0; round < 100; ++round) {
    const Lazy<std::vector<int>> value;
    std::atomic<int> made{0};
    std::barrier start(kThreads);
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        const std::vector<int>& got = value.get([&] {
          ++made;
          std::this_thread::yield();
          return std::vector<int>(10, 5);
        });
        EXPECT_EQ(got, std::vector<int>(10, 5));
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(made, 1);
  }
}

TEST(Lazy, AnAttemptThatThrowsIsMadeAgain) {
  const Lazy<int> value;
  EXPECT_THROW(value.get([]() -> int { throw std::runtime_error("not yet"); }), std::runtime_error);
  EXPECT_EQ(value.get([] { return 2; }), 2);
}

// One attempt fails while others wait for it: one of them makes it, and only who failed sees it.
TEST(Lazy, WhoWaitedForAnAttemptThatThrewTriesItself) {
  constexpr int kThreads = 3;
  for (int round = 0; round < 50; ++round) {
    const Lazy<int> value;
    std::atomic<int> attempts{0};
    std::atomic<int> failures{0};
    std::barrier start(kThreads);
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        try {
          EXPECT_EQ(value.get([&] {
            if (++attempts == 1) throw std::runtime_error("the first fails");
            return 7;
          }),
                    7);
        } catch (const std::runtime_error&) {
          ++failures;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(attempts, 2);
    EXPECT_EQ(failures, 1);
  }
}

TEST(Lazy, MayAskForAnotherButNotForItself) {
  const Lazy<int> inner;
  const Lazy<int> outer;
  EXPECT_EQ(outer.get([&] { return inner.get([] { return 4; }) + 1; }), 5);
  const Lazy<int> self;
  EXPECT_THROW(self.get([&] { return self.get([] { return 1; }); }), std::logic_error);
  EXPECT_EQ(self.get([] { return 3; }), 3);
}

}  // namespace
}  // namespace weftrt::detail
