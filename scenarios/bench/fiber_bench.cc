// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// ref/fiber/PROGRAM: the fixed programs of this directory, rewritten by hand for
// bare coroutines (fiber.h), with a point wherever the explored program has one
// that is no plain access.

#include <benchmark/benchmark.h>

#include <array>
#include <string>
#include <vector>

#include "scenarios/bench/fiber.h"

namespace weft::bench::fiber {
namespace {

// Static, like the state of the programs as they are explored.
struct State {
  Gate a = 0;
  Gate b = 0;
  Condition not_empty;
  Condition not_full;
  int counter = 0;
  int x = 0;
  int y = 0;
  int seen_in_x = 0;
  int seen_in_y = 0;
  int payload = 0;
  int initialisations = 0;
  std::array<int, 2> queue = {};
  int capacity = 2;
  int head = 0;
  int count = 0;
  bool failed = false;
};
State state;

Thread increment(Loom& loom) {
  co_await loom.point();
  ++state.counter;
}

Thread a_then_b(Loom& loom) {
  co_await loom.lockable(state.a);
  state.a = 1;
  co_await loom.lockable(state.b);
  state.b = 1;
  ++state.counter;
  co_await loom.point();
  state.b = 0;
  co_await loom.point();
  state.a = 0;
}

Thread store_x_load_y(Loom& loom) {
  co_await loom.point();
  state.x = 1;
  co_await loom.point();
  state.seen_in_y = state.y;
}

Thread store_y_load_x(Loom& loom) {
  co_await loom.point();
  state.y = 1;
  co_await loom.point();
  state.seen_in_x = state.x;
}

Thread initialise_once(Loom& loom) {
  co_await loom.point();
  if (state.counter == 0) {
    co_await loom.lockable(state.a);
    state.a = 1;
    co_await loom.point();
    if (state.counter == 0) {
      state.payload = 42;
      ++state.initialisations;
      co_await loom.point();
      state.counter = 1;
    }
    co_await loom.point();
    state.a = 0;
  }
  if (state.payload != 42) state.failed = true;
}

Thread produce(Loom& loom) {
  for (int item = 1; item <= 2; ++item) {
    co_await loom.lockable(state.a);
    state.a = 1;
    while (state.count == state.capacity) {
      co_await loom.point();
      state.a = 0;
      co_await loom.signalled(state.not_full);
      co_await loom.lockable(state.a);
      state.a = 1;
    }
    state.queue[static_cast<std::size_t>((state.head + state.count) % 2)] = item;
    ++state.count;
    co_await loom.point();
    loom.signal(state.not_empty);
    co_await loom.point();
    state.a = 0;
  }
}

Thread consume(Loom& loom) {
  co_await loom.lockable(state.a);
  state.a = 1;
  while (state.count == 0) {
    co_await loom.point();
    state.a = 0;
    co_await loom.signalled(state.not_empty);
    co_await loom.lockable(state.a);
    state.a = 1;
  }
  state.counter += state.queue[static_cast<std::size_t>(state.head)];
  state.head = (state.head + 1) % 2;
  --state.count;
  co_await loom.point();
  loom.signal(state.not_full);
  co_await loom.point();
  state.a = 0;
}

Thread produce_one_by_one(Loom& loom) {
  state.capacity = 1;
  return produce(loom);
}

Thread increment_twice(Loom& loom) {
  for (int i = 0; i < 2; ++i) {
    co_await loom.point();
    const int seen = state.counter;
    co_await loom.point();
    state.counter = seen + 1;
  }
}

struct Program {
  const char* name;
  std::vector<Body> bodies;
  bool (*holds)();  // after every execution
};

void run(benchmark::State& bench, const Program& program) {
  Loom loom(1);
  for (auto _ : bench) {
    state = {};
    if (!loom.run(program.bodies) || state.failed || !program.holds()) {
      bench.SkipWithError("the program failed");
      return;
    }
  }
  bench.SetItemsProcessed(bench.iterations());
}

[[maybe_unused]] const bool registered = [] {
  const Program programs[] = {
      {"a_counter", {increment, increment}, [] { return state.counter == 2; }},
      {"b_abba", {a_then_b, a_then_b}, [] { return state.counter == 2; }},
      {"c_sb",
       {store_x_load_y, store_y_load_x},
       [] { return state.seen_in_x == 1 || state.seen_in_y == 1; }},
      {"d_dcl", {initialise_once, initialise_once}, [] { return state.initialisations == 1; }},
      {"d2_dcl_weak", {initialise_once, initialise_once}, [] { return state.payload == 42; }},
      {"e0_onecv", {produce_one_by_one, consume, consume}, [] { return state.counter == 3; }},
      {"e_queue", {produce, consume, consume}, [] { return state.counter == 3; }},
      {"s_scale", {increment_twice, increment_twice, increment_twice}, [] { return true; }},
  };
  for (const Program& program : programs) {
    benchmark::RegisterBenchmark(("ref/fiber/" + std::string(program.name)).c_str(),
                                 [program](benchmark::State& bench) { run(bench, program); });
  }
  return true;
}();

}  // namespace
}  // namespace weft::bench::fiber
