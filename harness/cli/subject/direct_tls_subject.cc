// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A program for commands_test.cc that was compiled without -mno-tls-direct-seg-refs: it reaches its
// thread_local through %fs itself, where the alias executor cannot serve it.

#include <thread>

#include <weft/scenario.h>

namespace {

thread_local int visits = 0;

__attribute__((noinline)) int visit() { return ++visits; }

}  // namespace

WEFT_SCENARIO(own_visits, {.name = "direct/own_visits",
                           .summary = "each thread counts for itself",
                           .expect = weft::must_pass(),
                           .budget = 20}) {
  visit();
  std::thread other([] { weft::always(visit() == 1, "a thread begins at nothing"); });
  std::this_thread::yield();
  weft::always(visit() == 2, "nobody else counts here");
  other.join();
}
