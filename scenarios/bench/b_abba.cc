// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Two threads take two mutexes: the buggy pair in opposite orders, so that each
// may hold the one that the other waits for.

#include <cassert>

#include "scenarios/bench/program.h"

namespace weft::bench {
namespace {

pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
int sections;

void* a_then_b(void*) {
  pthread_mutex_lock(&a);
  pthread_mutex_lock(&b);
  ++sections;
  pthread_mutex_unlock(&b);
  pthread_mutex_unlock(&a);
  return nullptr;
}

void* b_then_a(void*) {
  pthread_mutex_lock(&b);
  pthread_mutex_lock(&a);
  ++sections;
  pthread_mutex_unlock(&a);
  pthread_mutex_unlock(&b);
  return nullptr;
}

template <Variant kVariant>
void run() {
  sections = 0;
  run_threads({a_then_b, kVariant == Variant::kFixed ? a_then_b : b_then_a});
  assert(sections == 2);
}

WEFT_BENCH_SCENARIO(b_abba_buggy, {.name = "bench/b_abba.buggy",
                                   .summary = "two mutexes taken in opposite orders",
                                   .expect = must_find("deadlock"),
                                   .budget = 200}) {
  run<Variant::kBuggy>();
}

WEFT_BENCH_SCENARIO(b_abba_fixed, {.name = "bench/b_abba.fixed",
                                   .summary = "two mutexes taken in one order",
                                   .expect = must_pass(),
                                   .budget = 200}) {
  run<Variant::kFixed>();
}

}  // namespace
}  // namespace weft::bench
