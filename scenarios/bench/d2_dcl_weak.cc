// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Double-checked initialisation whose flag the buggy one publishes relaxed: a
// reader may see the flag and not yet the payload.

#include <atomic>
#include <cassert>

#include "scenarios/bench/program.h"

namespace weft::bench {
namespace {

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
std::atomic<int> initialised;
int payload;

template <Variant kVariant>
void* use(void*) {
  constexpr bool kFixed = kVariant == Variant::kFixed;
  // acquire and release pair with each other: a reader of 1 must see the payload.
  constexpr std::memory_order kAcquire =
      kFixed ? std::memory_order_acquire : std::memory_order_relaxed;
  constexpr std::memory_order kRelease =
      kFixed ? std::memory_order_release : std::memory_order_relaxed;
  if (initialised.load(kAcquire) == 0) {
    pthread_mutex_lock(&mutex);
    // relaxed: every store to initialised happened under this mutex.
    if (initialised.load(std::memory_order_relaxed) == 0) {
      payload = 42;
      initialised.store(1, kRelease);
    }
    pthread_mutex_unlock(&mutex);
  }
  assert(payload == 42);
  return nullptr;
}

template <Variant kVariant>
void run() {
  initialised.store(0);
  payload = 0;
  run_threads({use<kVariant>, use<kVariant>});
}

WEFT_BENCH_UNCHECKED(d2_dcl_weak_buggy, "bench/d2_dcl_weak.buggy") { run<Variant::kBuggy>(); }

WEFT_BENCH_SCENARIO(d2_dcl_weak_fixed, {.name = "bench/d2_dcl_weak.fixed",
                                        .summary = "lazy initialisation, published with release",
                                        .expect = must_pass(),
                                        .budget = 200}) {
  run<Variant::kFixed>();
}

}  // namespace
}  // namespace weft::bench
