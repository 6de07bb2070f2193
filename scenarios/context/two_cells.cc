// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The first uses of the global context, by two threads at once, each changing
// a different setting of it. The mutant does not look again under the lock: each
// thread may create a cell, and what one of them changed is then lost.

#include <cassert>
#include <thread>

#include "lib/context/context.h"
#include "scenarios/runtime_story.h"

namespace {

constexpr rt::PropertyKey<bool> kTf32{"math.tf32"};

WEFT_SCENARIO(two_cells,
              {.name = "context/two_cells" WEFT_VARIANT,
               .summary = by_variant("the global cell is created twice, and a change is lost",
                                     "the global cell is created once, and no change is lost"),
               .expect = expect_with_mutant("assertion"),
               .budget = 2000}) {
  std::thread seeder([] { rt::update_global([](rt::ContextImpl& impl) { impl.seed_all(7); }); });
  rt::update_global([](rt::ContextImpl& impl) { impl.properties.set(kTf32, true); });
  seeder.join();

  const rt::ContextImpl& context = rt::current();
  assert(context.seed() == 7);
  assert(context.properties.value_or(kTf32, false));
}

}  // namespace
