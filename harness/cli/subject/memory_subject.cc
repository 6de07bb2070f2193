// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Mistakes with memory whose parties are two threads, neither of them the first. Without
// synchronisation that could tell them apart, they happen in every execution.

#include <atomic>
#include <cstddef>
#include <thread>

#include <weft/scenario.h>

namespace {

/// Runs `first` on task 0.0 and, when that has done what it says, `second` on task 0.1.
template <typename First, typename Second>
void one_after_the_other(First first, Second second) {
  std::thread one(first);
  std::thread other(second);
  one.join();
  other.join();
}

template <typename T>
T* await(const std::atomic<T*>& pointer) {
  T* value = pointer.load();
  while (value == nullptr) {
    std::this_thread::yield();
    value = pointer.load();
  }
  return value;
}

WEFT_SCENARIO(freed, {.name = "memory/freed", .budget = 1}) {
  std::atomic<int*> shared = nullptr;
  std::atomic<bool> looked = false;
  one_after_the_other(
      [&] {
        int* const block = new int(7);
        delete block;
        shared = block;
        while (!looked.load()) std::this_thread::yield();
      },
      [&] {
        *await(shared) = 8;
        looked = true;
      });
}

__attribute__((noinline)) void lend(std::atomic<int*>& shared) {
  int own = 7;
  shared = &own;
}

WEFT_SCENARIO(returned, {.name = "memory/returned", .budget = 1}) {
  std::atomic<int*> shared = nullptr;
  std::atomic<int*> later = nullptr;
  one_after_the_other(
      [&] {
        lend(shared);
        later = shared.load();
        std::this_thread::yield();
      },
      [&] { *await(later) = 8; });
}

__attribute__((noinline)) int descend(volatile int* caller) {
  volatile int own[64];
  own[0] = *caller + 1;
  return own[0] > 0 ? descend(own) + own[0] : 0;
}

WEFT_SCENARIO(endless_descent, {.name = "memory/endless_descent", .budget = 1}) {
  one_after_the_other([] { std::this_thread::yield(); },
                      [] {
                        volatile int start = 0;
                        descend(&start);
                      });
}

/// The detached thread waits for ever, and so is dropped with variables in scope.
WEFT_SCENARIO(dropped, {.name = "memory/dropped", .budget = 20}) {
  std::thread([] {
    volatile char around[256] = {};
    while (around[weft::choose(256)] == 0) {
      volatile char inner[1000] = {};
      inner[weft::choose(1000)] = 1;
      std::this_thread::yield();
    }
  }).detach();
  std::thread other([] {
    volatile char whole[60'000];
    for (std::size_t i = 0; i < sizeof whole; i += 100) whole[i] = 1;
  });
  other.join();
}

}  // namespace
