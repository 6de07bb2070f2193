// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Prior art 3: a module sets its per-thread objects up on the thread that imports it, and the
// look-up asserts that somebody did. Prior art 4 is its repair: the look-up sets up what is
// missing.
//
// Costs: a test of a thread-local word for either, and in the repair one allocation on each thread
// (benchmarks stash/set_up_at_import and stash/set_up_lazily: 0.2 of what the runtime's
// stash/runtime_find takes for each, which searches the thread's objects for the key). How it is
// measured: docs/prior-art.md.
// Breaks: 3 dies on every thread but the one that happened to import (prior_art/import_time.buggy:
// assertion). 4 does not, but each thread begins with the defaults: what was set on the importing
// thread does not hold on others (prior_art/lazy_set_up.buggy: assertion), until what new threads
// begin with is kept for all.
#pragma once

#include <atomic>
#include <cassert>
#include <memory>

namespace weft::prior_art {

/// A thread's own.
struct Trees {
  bool enabled = true;
  int recordings = 0;
};

inline std::unique_ptr<Trees>& trees_of_this_thread() {
  thread_local std::unique_ptr<Trees> instance;
  return instance;
}

/// 3: what runs when the module is imported.
inline void import_module() { trees_of_this_thread() = std::make_unique<Trees>(); }
inline Trees& imported_trees() {
  assert(trees_of_this_thread() != nullptr);
  return *trees_of_this_thread();
}

/// 4: nothing runs at import.
inline Trees& lazy_trees() {
  std::unique_ptr<Trees>& trees = trees_of_this_thread();
  if (trees == nullptr) trees = std::make_unique<Trees>();
  return *trees;
}

/// 4, and new threads begin with what was last set for all.
class SharedDefaults {
 public:
  void set_enabled(bool enabled) {
    // relaxed, here and below: one flag, which publishes nothing.
    enabled_.store(enabled, std::memory_order_relaxed);
    trees().enabled = enabled;
  }
  Trees& trees() const {
    std::unique_ptr<Trees>& trees = trees_of_this_thread();
    if (trees == nullptr) {
      trees = std::make_unique<Trees>();
      trees->enabled = enabled_.load(std::memory_order_relaxed);
    }
    return *trees;
  }

 private:
  std::atomic<bool> enabled_{true};
};

}  // namespace weft::prior_art
