// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Double-checked initialisation. The buggy one does not look again under the
// lock, so that two threads may both initialise.

#include <atomic>
#include <cassert>

#include "scenarios/bench/program.h"

namespace weft::bench {
namespace {

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
std::atomic<int*> instance;
int storage[2];
int initialisations;

template <Variant kVariant>
int* get() {
  // acquire: pairs with the release below; the caller reads *found.
  int* found = instance.load(std::memory_order_acquire);
  if (found != nullptr) return found;
  pthread_mutex_lock(&mutex);
  if constexpr (kVariant == Variant::kFixed) {
    // relaxed: every store to instance happened under this mutex.
    found = instance.load(std::memory_order_relaxed);
  }
  if (found == nullptr) {
    found = &storage[initialisations & 1];
    *found = 42;
    ++initialisations;
    // release: pairs with the acquire above.
    instance.store(found, std::memory_order_release);
  }
  pthread_mutex_unlock(&mutex);
  return found;
}

template <Variant kVariant>
void* use(void*) {
  assert(*get<kVariant>() == 42);
  return nullptr;
}

template <Variant kVariant>
void run() {
  instance.store(nullptr);
  initialisations = storage[0] = storage[1] = 0;
  run_threads({use<kVariant>, use<kVariant>});
  assert(initialisations == 1);
}

WEFT_BENCH_SCENARIO(d_dcl_buggy, {.name = "bench/d_dcl.buggy",
                                  .summary = "lazy initialisation without the second check",
                                  .expect = must_find("assertion"),
                                  .budget = 200}) {
  run<Variant::kBuggy>();
}

WEFT_BENCH_SCENARIO(d_dcl_fixed, {.name = "bench/d_dcl.fixed",
                                  .summary = "lazy initialisation, checked twice",
                                  .expect = must_pass(),
                                  .budget = 200}) {
  run<Variant::kFixed>();
}

}  // namespace
}  // namespace weft::bench
