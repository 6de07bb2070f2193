// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A user's own GoogleTest program, for programs_test.cc.

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <thread>

#include <weft/gtest.h>

namespace {

TEST(Plain, IsNotExplored) { EXPECT_FALSE(weft::exploring()); }

WEFT_TEST(Counter, IsLocked, .schedules = 50) {
  EXPECT_TRUE(weft::exploring());
  int counter = 0;
  std::mutex mutex;
  std::thread other([&] {
    const std::lock_guard lock(mutex);
    ++counter;
  });
  {
    const std::lock_guard lock(mutex);
    ++counter;
  }
  other.join();
  EXPECT_EQ(counter, 2);
}

WEFT_TEST(Counter, FailsOnAnotherThread, .schedules = 500) {
  std::atomic<int> counter = 0;
  std::thread other([&] {
    const int seen = counter;
    std::this_thread::yield();
    EXPECT_EQ(counter, seen) << "somebody else wrote";
  });
  counter = 1;
  other.join();
}

WEFT_TEST(Counter, IsReadInPassing, .schedules = 50) {
  int counter = 0;
  std::thread other([&] { counter = 1; });
  EXPECT_GE(counter, 0);
  other.join();
}

struct Node {
  int value = 1;
  Node* next = nullptr;
};

WEFT_TEST(List, HasNoEnd, .schedules = 10, .hang_seconds = 0.5) {
  Node node;
  node.next = &node;
  int sum = 0;
  for (const Node* at = &node; at != nullptr; at = at->next) sum += at->value;
  EXPECT_EQ(sum, 1);
}

WEFT_TEST(Counter, DISABLED_Fails, .schedules = 1) { EXPECT_EQ(1, 2); }

// In the kernel, and in real time, for longer than a replay of a hang would wait.
WEFT_TEST(Slow, Fails, .schedules = 1) {
  std::thread([] {
    const timespec time{.tv_sec = 3, .tv_nsec = 0};
    ::syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, nullptr);
  }).join();
  EXPECT_EQ(1, 2);
}

// What programs_test.cc looks at is how a skip is told: nothing is left out by these.
WEFT_TEST(Skipped, Always, .schedules = 20) { GTEST_SKIP() << "no device here"; }

WEFT_TEST(Skipped, Sometimes, .schedules = 50) {
  if (weft::choose(2) == 0) GTEST_SKIP() << "not this one";
  std::thread([] {}).join();
}

WEFT_TEST(Counter, AssertsOnTheRoot) {
  std::atomic<int> counter = 0;
  std::thread other([&] { counter = 1; });
  ASSERT_EQ(counter, 0);
  other.join();
}

}  // namespace
