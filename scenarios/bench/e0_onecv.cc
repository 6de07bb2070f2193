// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A work queue of capacity one, one producer and two consumers. The buggy one
// has a single condition variable for 'not full' and 'not empty': a signal may
// reach the wrong kind of waiter and be lost.

#include <cassert>

#include "scenarios/bench/program.h"

namespace weft::bench {
namespace {

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
pthread_cond_t not_full_of_its_own = PTHREAD_COND_INITIALIZER;
int slot;
bool full;
int sum;

template <Variant kVariant>
pthread_cond_t* not_full() {
  return kVariant == Variant::kFixed ? &not_full_of_its_own : &not_empty;
}

template <Variant kVariant>
void* produce(void*) {
  for (int item = 1; item <= 2; ++item) {
    pthread_mutex_lock(&mutex);
    while (full) pthread_cond_wait(not_full<kVariant>(), &mutex);
    slot = item;
    full = true;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&mutex);
  }
  return nullptr;
}

template <Variant kVariant>
void* consume(void*) {
  pthread_mutex_lock(&mutex);
  while (!full) pthread_cond_wait(&not_empty, &mutex);
  sum += slot;
  full = false;
  pthread_cond_signal(not_full<kVariant>());
  pthread_mutex_unlock(&mutex);
  return nullptr;
}

template <Variant kVariant>
void run() {
  slot = sum = 0;
  full = false;
  run_threads({produce<kVariant>, consume<kVariant>, consume<kVariant>});
  assert(sum == 3);
}

WEFT_BENCH_SCENARIO(e0_onecv_buggy, {.name = "bench/e0_onecv.buggy",
                                     .summary = "one condition variable for two conditions",
                                     .expect = must_find("deadlock"),
                                     .budget = 2000}) {
  run<Variant::kBuggy>();
}

WEFT_BENCH_SCENARIO(e0_onecv_fixed, {.name = "bench/e0_onecv.fixed",
                                     .summary = "a condition variable for each condition",
                                     .expect = must_pass(),
                                     .budget = 2000}) {
  run<Variant::kFixed>();
}

}  // namespace
}  // namespace weft::bench
