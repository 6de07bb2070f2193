// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lost update: two threads increment a counter once each. The buggy one loads
// and stores, so that one increment may overwrite the other.

#include <atomic>
#include <cassert>

#include "scenarios/bench/program.h"

namespace weft::bench {
namespace {

std::atomic<int> counter;

template <Variant kVariant>
void* increment(void*) {
  if constexpr (kVariant == Variant::kFixed) {
    counter.fetch_add(1);
  } else {
    const int seen = counter.load();
    counter.store(seen + 1);
  }
  return nullptr;
}

template <Variant kVariant>
void run() {
  counter.store(0);
  run_threads({increment<kVariant>, increment<kVariant>});
  assert(counter.load() == 2);
}

WEFT_BENCH_SCENARIO(a_counter_buggy, {.name = "bench/a_counter.buggy",
                                      .summary = "two unprotected increments lose one",
                                      .expect = must_find("assertion"),
                                      .budget = 200}) {
  run<Variant::kBuggy>();
}

WEFT_BENCH_SCENARIO(a_counter_fixed, {.name = "bench/a_counter.fixed",
                                      .summary = "two atomic increments",
                                      .expect = must_pass(),
                                      .budget = 200}) {
  run<Variant::kFixed>();
}

}  // namespace
}  // namespace weft::bench
