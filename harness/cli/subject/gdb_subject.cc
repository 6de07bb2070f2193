// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A program under test for gdb_test.cc: findings of every sort of place in which a worker can be
// when gdb is to see it. Functions that a test looks for in backtraces are not inlined.

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <weft/scenario.h>

// Known in every file, and so to gdb in every frame.
std::atomic<int> published;
int* volatile kept;

namespace {

std::mutex left;
std::mutex right;
std::condition_variable never;

[[gnu::noinline]] void take(std::mutex& first, std::mutex& second) {
  const std::lock_guard one(first);
  const std::lock_guard two(second);
}

[[gnu::noinline]] void take_left_first() { take(left, right); }
[[gnu::noinline]] void take_right_first() { take(right, left); }

[[gnu::noinline]] void wait_for_both(std::thread& one, std::thread& other) {
  one.join();
  other.join();
}

[[gnu::noinline]] void publish() { published.store(7); }

[[gnu::noinline]] void overflow(volatile int* from) {
  volatile int here[1024] = {};
  here[0] = *from + 1;
  if (here[0] != 0) overflow(here);
}

[[gnu::noinline]] void crash_on(volatile int* nothing) { *nothing = 1; }

}  // namespace

WEFT_SCENARIO(deadlock, {.name = "gdb/deadlock", .budget = 1000}) {
  std::thread one(take_left_first);
  std::thread other(take_right_first);
  wait_for_both(one, other);
}

WEFT_SCENARIO(published_early, {.name = "gdb/published", .budget = 1000}) {
  published = 0;
  std::thread other(publish);
  weft::always(published.load() == 0, "nothing is published yet");
  other.join();
}

WEFT_SCENARIO(sleeps, {.name = "gdb/sleeps", .budget = 10}) {
  std::thread other([] { std::this_thread::sleep_for(std::chrono::hours(1)); });
  std::this_thread::sleep_for(std::chrono::minutes(1));
  other.join();
  weft::always(false, "never says so");
}

WEFT_SCENARIO(leaks, {.name = "gdb/leaks", .budget = 10}) {
  std::thread other([] { kept = new int(1); });
  other.join();
  kept = nullptr;
}

// The thread outlives the test, and waits for ever: it is dropped where it stands.
WEFT_SCENARIO(forgets_beside_a_waiter, {.name = "gdb/forgets_beside_a_waiter", .budget = 10}) {
  std::thread([] {
    std::unique_lock lock(left);
    never.wait(lock);
  }).detach();
  pthread_t forgotten;
  pthread_create(
      &forgotten, nullptr, [](void*) -> void* { return nullptr; }, nullptr);
}

WEFT_SCENARIO(crashes, {.name = "gdb/crashes", .budget = 10}) {
  std::thread other([] { crash_on(nullptr); });
  other.join();
}

WEFT_SCENARIO(overflows, {.name = "gdb/overflows", .budget = 10}) {
  std::thread other([] {
    volatile int begin = 0;
    overflow(&begin);
  });
  other.join();
}

WEFT_SCENARIO(throws, {.name = "gdb/throws", .budget = 10}) {
  std::thread other([] { throw std::runtime_error("nobody catches it"); });
  other.join();
}

WEFT_SCENARIO(spins, {.name = "gdb/spins", .budget = 1}) {
  static volatile int forever = 1;
  std::thread other([] {
    while (forever != 0) {
    }
  });
  other.join();
}

WEFT_SCENARIO(dies, {.name = "gdb/dies", .budget = 1}) { ::raise(SIGKILL); }

WEFT_SCENARIO(passes, {.name = "gdb/passes", .budget = 1}) {
  std::thread other(publish);
  other.join();
}
