// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Store buffering: each thread stores to its own variable and loads the other's.
// Under sequential consistency at least one sees the other's store; relaxed
// operations do not promise that.

#include <atomic>
#include <cassert>

#include "scenarios/bench/program.h"

namespace weft::bench {
namespace {

std::atomic<int> x;
std::atomic<int> y;
int seen_in_y;
int seen_in_x;

template <std::memory_order kOrder>
void* store_x_load_y(void*) {
  x.store(1, kOrder);
  seen_in_y = y.load(kOrder);
  return nullptr;
}

template <std::memory_order kOrder>
void* store_y_load_x(void*) {
  y.store(1, kOrder);
  seen_in_x = x.load(kOrder);
  return nullptr;
}

template <Variant kVariant>
void run() {
  constexpr std::memory_order kOrder =
      kVariant == Variant::kFixed ? std::memory_order_seq_cst : std::memory_order_relaxed;
  x.store(0);
  y.store(0);
  seen_in_x = seen_in_y = -1;
  run_threads({store_x_load_y<kOrder>, store_y_load_x<kOrder>});
  assert(!(seen_in_x == 0 && seen_in_y == 0));
}

WEFT_BENCH_UNCHECKED(c_sb_buggy, "bench/c_sb.buggy") { run<Variant::kBuggy>(); }

WEFT_BENCH_SCENARIO(c_sb_fixed, {.name = "bench/c_sb.fixed",
                                 .summary = "store buffering, sequentially consistent",
                                 .expect = must_pass(),
                                 .budget = 200}) {
  run<Variant::kFixed>();
}

}  // namespace
}  // namespace weft::bench
