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
Cell cells[2];

template <class Operation>
void run_on_two_threads(Operation operation) {
  struct Work {
    Operation operation;
    Cell* cell;
  };
  const auto loop = [](void* argument) -> void* {
    const Work& work = *static_cast<Work*>(argument);
    for (std::uint64_t i = 0; i < kCostRounds; ++i) work.operation(*work.cell);
    return nullptr;
  };
  Work works[2] = {{operation, &cells[0]}, {operation, &cells[1]}};
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], nullptr, loop, &works[i]);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
}

}  // namespace

void plain_reads() {
  run_on_two_threads([](Cell& cell) { (void)cell.plain; });
}

void plain_writes() {
  run_on_two_threads([](Cell& cell) { cell.plain = 1; });
}

void atomic_loads() {
  run_on_two_threads([](Cell& cell) { (void)cell.atomic.load(); });
}

void atomic_adds() {
  run_on_two_threads([](Cell& cell) { cell.atomic.fetch_add(1); });
}

void lock_pairs() {
  run_on_two_threads([](Cell& cell) {
    pthread_mutex_lock(&cell.mutex);
    pthread_mutex_unlock(&cell.mutex);
  });
}

void yields() {
  run_on_two_threads([](Cell&) { sched_yield(); });
}

}  // namespace weft::bench
