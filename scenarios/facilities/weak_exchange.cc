// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A weak compare-exchange may fail although it finds what it expects; the option spurious_wakeups
// does it where the compiler tells weak from strong, and that is g++ alone.

#include <atomic>
#include <cassert>
#include <cstdint>
#include <thread>

#include <weft/scenario.h>

namespace {

#if defined(__clang__)
const weft::Expectation kFoundByGcc = weft::must_pass();
#else
const weft::Expectation kFoundByGcc = weft::must_find("assertion");
#endif

template <typename Word>
void set_once() {
  std::atomic<Word> word{1};
  Word expected = 1;
  const bool exchanged = word.compare_exchange_weak(expected, 2);
  assert(expected == 1);
  assert(word == (exchanged ? 2 : 1));
  assert(exchanged);
}

WEFT_SCENARIO(weak_buggy, {.name = "facilities/weak_exchange.buggy",
                           .summary = "a weak compare-exchange without a loop",
                           .expect = kFoundByGcc,
                           .budget = 300,
                           .spurious_wakeups = 1}) {
  set_once<int>();
}

WEFT_SCENARIO(weak_byte, {.name = "facilities/weak_exchange.byte",
                          .summary = "the same of one byte",
                          .expect = kFoundByGcc,
                          .budget = 300,
                          .spurious_wakeups = 1}) {
  set_once<std::uint8_t>();
}

WEFT_SCENARIO(weak_off, {.name = "facilities/weak_exchange.off",
                         .summary = "without the option none fails for no reason",
                         .expect = weft::must_pass(),
                         .budget = 300}) {
  set_once<int>();
}

WEFT_SCENARIO(weak_strong, {.name = "facilities/weak_exchange.strong",
                            .summary = "a strong one fails for no reason never",
                            .expect = weft::must_pass(),
                            .budget = 300,
                            .spurious_wakeups = 3}) {
  std::atomic<int> word{1};
  int expected = 1;
  const bool exchanged = word.compare_exchange_strong(expected, 2);
  assert(exchanged);
}

WEFT_SCENARIO(weak_fixed, {.name = "facilities/weak_exchange.fixed",
                           .summary = "a loop, which needs no more rounds than the option allows",
                           .expect = weft::must_pass(),
                           .budget = 300,
                           .spurious_wakeups = 2}) {
  std::atomic<int> word{0};
  const auto add = [&] {
    int failed = 0;
    int expected = 0;
    while (!word.compare_exchange_weak(expected, expected + 1)) ++failed;
    assert(failed <= 2 + 1);  // and once because of the other
  };
  std::thread other(add);
  add();
  other.join();
  assert(word == 2);
}

}  // namespace
