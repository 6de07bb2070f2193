// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A thread pins the context while another replaces it. The mutant's reader
// learns the address first and counts itself in later: in between, the writer
// sees nobody, and frees what the reader is about to use.

#include <cassert>
#include <thread>

#include "lib/context/context.h"
#include "scenarios/kinds.h"
#include "scenarios/runtime_story.h"

namespace {

WEFT_SCENARIO(freed_early,
              {.name = "context/freed_early" WEFT_VARIANT,
               .summary = by_variant("a context is freed while a reader pins it",
                                     "a context lives for as long as a reader pins it"),
               .expect = expect_with_mutant(kUseAfterFree, "data_race"),
               .budget = 10'000}) {
  std::thread writer([] { rt::update_global([](rt::ContextImpl& impl) { impl.seed_all(7); }); });
  {
    const rt::ContextPin pinned = rt::pin();
    writer.join();
    // Either the pin is of the new one, or it keeps the old one alive beside it.
    const bool pinned_new = pinned.generation() == rt::generation();
    assert(rt::live_implementations() == (pinned_new ? 1U : 2U));
  }
  assert(rt::current().seed() == 7);
}

}  // namespace
