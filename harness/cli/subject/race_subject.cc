// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A program under test for races_test.cc: data races, alone and with another bug behind them.

#include <mutex>
#include <thread>

#include <weft/scenario.h>

namespace {

// Written once each.
[[gnu::used]] int visits;
[[gnu::used]] int total;

[[gnu::noinline]] void note_visit() { visits = 1; }
[[gnu::noinline]] void note_total() { total = 1; }

/// Two races, and a bug that schedules alone decide: whether the other came first.
void visit_twice() {
  static std::mutex mutex;
  static bool other_came;
  other_came = false;
  std::thread other([] {
    note_visit();
    note_total();
    const std::lock_guard lock(mutex);
    other_came = true;
  });
  note_visit();
  note_total();
  bool late = false;
  {
    const std::lock_guard lock(mutex);
    late = other_came;
  }
  other.join();
  weft::always(!late, "the other comes second");
}

[[gnu::noinline]] void lock_both(std::mutex& first, std::mutex& second) {
  const std::lock_guard outer(first);
  const std::lock_guard inner(second);
}

}  // namespace

WEFT_SCENARIO(two_races, {.name = "race/two_and_a_bug", .budget = 300}) { visit_twice(); }

WEFT_SCENARIO(one_race, {.name = "race/one", .budget = 100}) {
  std::thread other(note_visit);
  note_visit();
  other.join();
}

// The load of the word acquires what its own value released: the plain write comes before it.
WEFT_SCENARIO(published_by_itself, {.name = "race/published_by_itself", .budget = 200}) {
  static int word;
  static int written;
  std::thread other([] {
    word = 1;
    __atomic_store_n(&word, 2, __ATOMIC_RELEASE);
    __atomic_store_n(&written, 1, __ATOMIC_RELAXED);
  });
  const bool there = __atomic_load_n(&written, __ATOMIC_RELAXED) == 1;
  if (there) (void)__atomic_load_n(&word, __ATOMIC_ACQUIRE);
  weft::sometimes(there, "the other came first");
  other.join();
}

// A flag that is as good as none; which of its sides is to blame is the test's to say.
template <int kStored, int kLoaded, bool kFenced = false>
void publish_by_a_flag() {
  static int payload;
  static int ready;
  payload = 0;
  ready = 0;
  std::thread other([] {
    payload = 1;
    if constexpr (kFenced) __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n(&ready, 1, kStored);
  });
  if (__atomic_load_n(&ready, kLoaded) == 1) weft::always(payload == 1, "it is there");
  other.join();
}

WEFT_SCENARIO(relaxed_store, {.name = "race/relaxed_store", .budget = 200}) {
  publish_by_a_flag<__ATOMIC_RELAXED, __ATOMIC_ACQUIRE>();
}
WEFT_SCENARIO(relaxed_load, {.name = "race/relaxed_load", .budget = 200}) {
  publish_by_a_flag<__ATOMIC_RELEASE, __ATOMIC_RELAXED>();
}
WEFT_SCENARIO(relaxed_both, {.name = "race/relaxed_both", .budget = 200}) {
  publish_by_a_flag<__ATOMIC_RELAXED, __ATOMIC_RELAXED>();
}

// The fence makes a release of the store behind it.
WEFT_SCENARIO(fenced_store, {.name = "race/fenced_store", .budget = 200}) {
  publish_by_a_flag<__ATOMIC_RELAXED, __ATOMIC_RELAXED, true>();
}

// What a third task wrote is nobody's order.
WEFT_SCENARIO(overwritten_flag, {.name = "race/overwritten_flag", .budget = 500}) {
  static int payload;
  static int ready;
  payload = 0;
  ready = 0;
  std::thread other([] {
    payload = 1;
    __atomic_store_n(&ready, 1, __ATOMIC_RELAXED);
  });
  std::thread third([] { __atomic_store_n(&ready, 2, __ATOMIC_RELAXED); });
  const bool overwritten = __atomic_load_n(&ready, __ATOMIC_RELAXED) == 2;
  if (overwritten) (void)*const_cast<volatile int*>(&payload);
  other.join();
  third.join();
}

// An increment is two accesses, so two identities: a read against a write, and two writes.
[[gnu::used]] int hits;
[[gnu::noinline]] void note_hit() { ++hits; }
WEFT_SCENARIO(increments, {.name = "race/increments", .budget = 300}) {
  std::thread other(note_hit);
  note_hit();
  other.join();
}

// On one line, and still two: of two variables.
[[gnu::used]] int wins;
[[gnu::used]] int losses;
[[gnu::noinline]] void note_end() { wins = 1, losses = 1; }
WEFT_SCENARIO(two_on_a_line, {.name = "race/two_on_a_line", .budget = 300}) {
  std::thread other(note_end);
  note_end();
  other.join();
}

WEFT_SCENARIO(deadlock, {.name = "race/deadlock", .budget = 300}) {
  static std::mutex left;
  static std::mutex right;
  std::thread other([] { lock_both(right, left); });
  lock_both(left, right);
  other.join();
}
