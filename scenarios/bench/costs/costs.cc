// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "scenarios/bench/costs/costs.h"

#include <pthread.h>
#include <sched.h>

#include <atomic>

namespace weft::bench {
namespace {

// Each thread's own line, so that the benchmark prices the harness and not the cache.
struct alignas(64) Cell {
  volatile std::uint64_t plain = 0;  // volatile: the accesses must be made
  std::atomic<std::uint64_t> atomic{0};
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
};
constexpr std::size_t kMostThreads = 64;
Cell cells[kMostThreads];

template <std::size_t kThreads, std::uint64_t kRounds, class Operation>
void run_on_threads(Operation) {
  const auto loop = [](void* argument) -> void* {
    Cell& cell = *static_cast<Cell*>(argument);
    for (std::uint64_t i = 0; i < kRounds; ++i) Operation()(cell, i);
    return nullptr;
  };
  pthread_t threads[kThreads];
  for (std::size_t i = 0; i < kThreads; ++i) pthread_create(&threads[i], nullptr, loop, &cells[i]);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
}

template <class Operation>
void run_on_two_threads(Operation operation) {
  run_on_threads<2, kCostRounds>(operation);
}

}  // namespace

void plain_reads() {
  run_on_two_threads([](Cell& cell, std::uint64_t) { (void)cell.plain; });
}

void plain_writes() {
  run_on_two_threads([](Cell& cell, std::uint64_t) { cell.plain = 1; });
}

void atomic_loads() {
  // One in 16 adds: a thread that only looks is soon left for another.
  run_on_two_threads([](Cell& cell, std::uint64_t round) {
    if (round % 16 == 0) {
      cell.atomic.fetch_add(1);
    } else {
      (void)cell.atomic.load();
    }
  });
}

void atomic_adds() {
  run_on_two_threads([](Cell& cell, std::uint64_t) { cell.atomic.fetch_add(1); });
}

void lock_pairs() {
  run_on_two_threads([](Cell& cell, std::uint64_t) {
    pthread_mutex_lock(&cell.mutex);
    pthread_mutex_unlock(&cell.mutex);
  });
}

void yields() {
  run_on_two_threads([](Cell&, std::uint64_t) { sched_yield(); });
}

void add_in_2_tasks() {
  run_on_threads<2, kManyRounds>([](Cell& cell, std::uint64_t) { cell.atomic.fetch_add(1); });
}

void add_in_64_tasks() {
  run_on_threads<64, kManyRounds>([](Cell& cell, std::uint64_t) { cell.atomic.fetch_add(1); });
}

}  // namespace weft::bench
