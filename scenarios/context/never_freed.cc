// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Two threads pin and unpin one context, which is then replaced. The mutant
// gives references back by a load and a store: one of two may be lost, and the
// replaced context is never freed.

#include <cassert>
#include <thread>

#include "lib/context/context.h"
#include "scenarios/runtime_story.h"

namespace {

WEFT_SCENARIO(never_freed, {.name = "context/never_freed" WEFT_VARIANT,
                            .summary = "a replaced context outlives its last reader",
                            .expect = expect_with_mutant("assertion"),
                            .budget = 2000}) {
  (void)rt::current();
  std::thread reader([] { (void)rt::current(); });
  std::thread other_reader([] { (void)rt::current(); });
  rt::update_global([](rt::ContextImpl& impl) { impl.random_seed = 7; });
  reader.join();
  other_reader.join();

  assert(rt::current().random_seed == 7);
  assert(rt::live_implementations() == 1);
}

}  // namespace
