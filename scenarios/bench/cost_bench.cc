// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// point/OPERATION: schedule points per second with two threads, of which pct
// hardly ever changes the running one. switch/every_point: points per second
// when each hands over to the other thread. step/N_tasks: steps per second of N
// threads that add to counters of their own, under random.

#include "scenarios/bench/costs/costs.h"
#include "scenarios/bench/explored_bench.h"

namespace weft::bench {
namespace {

// Two threads of 900 rounds, 5,000 times: nine million rounds per exploration.
constexpr std::uint64_t kExecutions = 5000;
constexpr std::uint64_t kRoundsPerExecution = 2 * kCostRounds;

void point(benchmark::State& state, void (*body)(), std::uint64_t points_per_round) {
  measure(state,
          {.strategy = "pct",
           .executions = kExecutions,
           .items_per_execution = points_per_round * kRoundsPerExecution},
          body);
}
BENCHMARK_CAPTURE(point, plain_read, plain_reads, 1)->UseRealTime()->Name("point/plain_read");
BENCHMARK_CAPTURE(point, plain_write, plain_writes, 1)->UseRealTime()->Name("point/plain_write");
BENCHMARK_CAPTURE(point, atomic_load, atomic_loads, 1)->UseRealTime()->Name("point/atomic_load");
BENCHMARK_CAPTURE(point, atomic_add, atomic_adds, 1)->UseRealTime()->Name("point/atomic_add");
BENCHMARK_CAPTURE(point, mutex, lock_pairs, 2)->UseRealTime()->Name("point/mutex");

void switches(benchmark::State& state) {
  measure(state,
          {.strategy = "random:switch=1",
           .executions = kExecutions / 10,
           .items_per_execution = kRoundsPerExecution},
          yields);
}
BENCHMARK(switches)->UseRealTime()->Name("switch/every_point");

void step(benchmark::State& state, void (*body)(), std::uint64_t tasks) {
  measure(state,
          {.strategy = "random",
           .executions = kExecutions / tasks,
           .items_per_execution = tasks * kManyRounds},
          body);
}
BENCHMARK_CAPTURE(step, of_2, add_in_2_tasks, 2)->UseRealTime()->Name("step/2_tasks");
BENCHMARK_CAPTURE(step, of_64, add_in_64_tasks, 64)->UseRealTime()->Name("step/64_tasks");

}  // namespace
}  // namespace weft::bench
