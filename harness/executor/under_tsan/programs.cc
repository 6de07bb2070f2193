// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/executor/under_tsan/programs.h"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace under_tsan {
namespace {

// ThreadSanitizer keeps the latest four accesses to each eight bytes: side by side, the flag's
// would drive out the variable's, and with them the race.
alignas(8) int shared = 0;
alignas(8) std::atomic<int> flag{0};
std::mutex mutex;
thread_local int own = 0;

template <typename First, typename Second>
void run(First first, Second second) {
  shared = 0;
  flag = 0;
  std::thread one(first);
  std::thread other(second);
  one.join();
  other.join();
}

void hand_over(std::memory_order store, std::memory_order load) {
  run(
      [store] {
        shared = 1;
        flag.store(1, store);
      },
      [load] {
        while (flag.load(load) == 0) sched_yield();
        shared = 2;
      });
}

void keep(pthread_key_t key, int number) {
  own = number;
  pthread_setspecific(key, &own);
  const pthread_t self = pthread_self();
  sched_yield();
  if (own != number) wrong("a thread_local is not the task's own");
  if (pthread_getspecific(key) != &own) wrong("a key's value is not the task's own");
  if (pthread_self() != self) wrong("pthread_self() is not the task's");
  int caught = 0;
  try {
    struct Yielding {
      ~Yielding() { sched_yield(); }
    } yielding;
    throw int{number};
  } catch (int thrown) {
    sched_yield();
    caught = thrown;
  }
  if (caught != number || std::uncaught_exceptions() != 0)
    wrong("an exception is not the task's own");
}

}  // namespace

void unordered_writes() {
  run([] { shared = 1; }, [] { shared = 2; });
}

void locked_writes() {
  const auto write = [] {
    for (int i = 0; i < 3; ++i) {
      const std::lock_guard lock(mutex);
      ++shared;
      sched_yield();
    }
  };
  run(write, write);
  if (shared != 6) wrong("a mutex let two in");
}

void relaxed_flag() { hand_over(std::memory_order_relaxed, std::memory_order_relaxed); }

void released_flag() { hand_over(std::memory_order_release, std::memory_order_acquire); }

void writes_half_way() {
  run(
      [] {
        flag.store(1, std::memory_order_relaxed);
        for (int i = 0; i < 4; ++i) sched_yield();
        flag.store(2, std::memory_order_relaxed);
        shared = 1;
      },
      [] {
        if (flag.load(std::memory_order_relaxed) == 1) shared = 2;
      });
}

void own_state() {
  pthread_key_t key = 0;
  pthread_key_create(&key, nullptr);
  run([key] { keep(key, 1); }, [key] { keep(key, 2); });
  pthread_key_delete(key);
}

}  // namespace under_tsan
