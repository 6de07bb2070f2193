// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The founding failure. A module sets its per-thread objects up on the thread
// that imports it, and a raw thread takes part in the work: the mutant's stash
// has nothing for it, and the look-up fails. What came first decides who draws the
// work, so that a test may pass for years.

#include <atomic>
#include <memory>
#include <thread>

#include "lib/stash/stash.h"
#include "lib/threads/spawn.h"
#include "scenarios/runtime_story.h"

namespace {

/// Stands for a graph tree manager: per thread, and used by it alone.
struct TreeManager {
  std::thread::id owner = std::this_thread::get_id();
  int graphs = 0;
};

const rt::StashKey<TreeManager> kTreeManager("scenarios.import_only.trees", rt::StashRule::kPrivate,
                                             [] { return std::make_shared<TreeManager>(); });

WEFT_SCENARIO(import_only, {.name = "stash/import_only" WEFT_VARIANT,
                            .summary = "a raw thread finds no object under a stashed key",
                            .expect = expect_with_mutant("uncaught_exception"),
                            .budget = 500}) {
  constexpr int kBatches = 2;
  std::atomic<int> next_batch{0};
  const auto work = [&next_batch] {
    while (next_batch.fetch_add(1) < kBatches) ++rt::stash::get_or_init(kTreeManager)->graphs;
  };

  ++rt::stash::get_or_init(kTreeManager)->graphs;  // the import warms up
  std::thread drafter = rt::spawn_raw(work);
  work();
  drafter.join();
}

}  // namespace
