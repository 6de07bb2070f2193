// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A work queue of capacity two, one producer of two items and two consumers of
// one each. The buggy producer signals only when the queue was empty: if both
// consumers wait already, the second item wakes nobody.

#include <cassert>

#include "scenarios/bench/program.h"

namespace weft::bench {
namespace {

constexpr int kCapacity = 2;

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
int queue[kCapacity];
int head;
int count;
int sum;

template <Variant kVariant>
void* produce(void*) {
  for (int item = 1; item <= 2; ++item) {
    pthread_mutex_lock(&mutex);
    while (count == kCapacity) pthread_cond_wait(&not_full, &mutex);
    queue[(head + count) % kCapacity] = item;
    ++count;
    if (kVariant == Variant::kFixed || count == 1) pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&mutex);
  }
  return nullptr;
}

void* consume(void*) {
  pthread_mutex_lock(&mutex);
  while (count == 0) pthread_cond_wait(&not_empty, &mutex);
  sum += queue[head];
  head = (head + 1) % kCapacity;
  --count;
  pthread_cond_signal(&not_full);
  pthread_mutex_unlock(&mutex);
  return nullptr;
}

template <Variant kVariant>
void run() {
  head = count = sum = 0;
  run_threads({produce<kVariant>, consume, consume});
  assert(sum == 3);
}

WEFT_BENCH_SCENARIO(e_queue_buggy, {.name = "bench/e_queue.buggy",
                                    .summary = "a wake-up lost on a queue that was not empty",
                                    .expect = must_find("deadlock"),
                                    .budget = 1000}) {
  run<Variant::kBuggy>();
}

WEFT_BENCH_SCENARIO(e_queue_fixed, {.name = "bench/e_queue.fixed",
                                    .summary = "a wake-up for every item",
                                    .expect = must_pass(),
                                    .budget = 1000}) {
  run<Variant::kFixed>();
}

}  // namespace
}  // namespace weft::bench
