// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A thread reads the context while another replaces it. The mutant's cell keeps
// its own share in the count of what it lets go, so that no last reader ever
// frees it.

#include <cassert>
#include <thread>

#include "lib/context/context.h"
#include "scenarios/runtime_story.h"

namespace {

WEFT_SCENARIO(never_freed, {.name = "context/never_freed" WEFT_VARIANT,
                            .summary = by_variant("a replaced context outlives its last reader",
                                                  "a replaced context goes with its last reader"),
                            .expect = expect_with_mutant("assertion"),
                            .budget = 500}) {
  (void)rt::current();
  std::thread reader([] { (void)rt::current(); });
  rt::update_global([](rt::ContextImpl& impl) { impl.seed_all(7); });
  reader.join();

  assert(rt::current().seed() == 7);
  assert(rt::live_implementations() == 1);
}

}  // namespace
