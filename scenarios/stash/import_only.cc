// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The founding failure. A module sets its per-thread objects up on the thread
// that imports it; a raw thread takes part in the work. The mutant's stash has
// nothing for it, and the look-up fails. Who draws the work is up to the
// schedule, so that a test may pass for years.

#include <atomic>
#include <memory>
#include <thread>

#include "lib/stash/stash.h"
#include "lib/threads/spawn.h"
#include "scenarios/runtime_story.h"

namespace {

/// Stands for a graph tree manager: a thread's own.
struct TreeManager {
  int recordings = 0;
};
using TreeManagerKey = rt::StashKey<TreeManager>;

TreeManagerKey import_graphs() {
  return TreeManagerKey("scenarios.import_only.trees", rt::StashRule::kPrivate,
                        [] { return std::make_shared<TreeManager>(); });
}

WEFT_SCENARIO(import_only,
              {.name = "stash/import_only" WEFT_VARIANT,
               .summary = by_variant("a raw thread finds no object under a stashed key",
                                     "a raw thread makes its own object on first use"),
               .expect = expect_with_mutant("uncaught_exception"),
               .budget = 500}) {
  constexpr int kBatches = 2;
  const TreeManagerKey tree_manager = import_graphs();
  std::atomic<int> next_batch{0};
  const auto work = [&] {
    while (next_batch.fetch_add(1) < kBatches) ++rt::stash::get_or_init(tree_manager)->recordings;
  };

  std::thread drafter = rt::spawn_raw(work);
  work();
  drafter.join();
}

}  // namespace
