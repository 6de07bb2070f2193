// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A thread hands its state over with the work it submits. It took the snapshot
// before it stashed anything; a worker that has an object of its own installs
// the snapshot around the work. The mutant's guard replaces the whole stash, so that the
// worker's object is gone while the work runs.

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <weft/weft.h>

#include "lib/stash/guard.h"
#include "lib/stash/stash.h"
#include "scenarios/runtime_story.h"

namespace {

struct TreeManager {
  int recordings = 0;
};

const rt::StashKey<TreeManager> tree_manager("scenarios.stale_snapshot.trees",
                                             rt::StashRule::kFillMissing,
                                             [] { return std::make_shared<TreeManager>(); });

/// Runs each piece of work under the state of whoever submitted it.
class Engine {
 public:
  void submit(const rt::StashCapture& state) {
    std::lock_guard lock(mutex_);
    submitted_.push_back(state);
    changed_.notify_one();
  }

  void run(int count) {
    (void)rt::stash::get_or_init(tree_manager);
    for (int i = 0; i < count; ++i) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !submitted_.empty(); });
      const rt::StashCapture state = std::move(submitted_.front());
      submitted_.pop_front();
      lock.unlock();

      const rt::StashGuard guard(state);
      weft::always(rt::stash::contains(tree_manager), "a worker keeps its own tree manager");
      ++rt::stash::get(tree_manager)->recordings;
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<rt::StashCapture> submitted_;
};

WEFT_SCENARIO(stale_snapshot,
              {.name = "stash/stale_snapshot" WEFT_VARIANT,
               .summary = by_variant("an old snapshot hides what a worker has stashed",
                                     "an old snapshot leaves alone what a worker has stashed"),
               .expect = expect_with_mutant("always"),
               .budget = 500}) {
  Engine engine;
  std::thread worker([&engine] { engine.run(2); });
  const rt::StashCapture early = rt::stash::capture();
  (void)rt::stash::get_or_init(tree_manager);
  engine.submit(early);
  engine.submit(rt::stash::capture());
  worker.join();
}

}  // namespace
