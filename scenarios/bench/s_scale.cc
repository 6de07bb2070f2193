// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Three threads, two unprotected increments each, and no claim about the sum:
// for throughput alone.

#include <atomic>

#include "scenarios/bench/program.h"

namespace weft::bench {
namespace {

std::atomic<int> counter;

void* increment_twice(void*) {
  for (int i = 0; i < 2; ++i) {
    const int seen = counter.load();
    counter.store(seen + 1);
  }
  return nullptr;
}

WEFT_BENCH_SCENARIO(s_scale_fixed, {.name = "bench/s_scale.fixed",
                                    .summary = "three threads, twelve atomic operations",
                                    .expect = must_pass(),
                                    .budget = 200}) {
  counter.store(0);
  run_threads({increment_twice, increment_twice, increment_twice});
}

}  // namespace
}  // namespace weft::bench
