// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Must fail, on every schedule. A run in which it passes did not look.

#include <cassert>
#include <thread>

#include <weft/scenario.h>

namespace {

WEFT_SCENARIO(canary, {.name = "canary/wrong_sum",
                       .summary = "wrong on every schedule: proves that the oracle works",
                       .expect = weft::must_find("assertion"),
                       .budget = 1,
                       .canary = true}) {
  int sum = 0;
  std::thread adder([&] { sum += 1; });
  adder.join();
  assert(sum == 2);
}

}  // namespace
