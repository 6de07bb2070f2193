// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A thread's stash keeps counted objects under a key, and gives each reference
// back when the thread ends. The buggy one takes over the reference that the
// caller only lent: the last holder releases once too often.

#include <atomic>
#include <map>
#include <string>
#include <thread>

#include <weft/scenario.h>

namespace {

class TreeManager {
 public:
  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    // release, acquire: pair with each other; every use comes before the delete
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  std::atomic<int> references_{1};
};

class Stash {
 public:
  ~Stash() {
    for (const auto& [key, manager] : managers_) manager->release();
  }
  void take_over(const std::string& key, TreeManager* lent) { managers_[key] = lent; }
  void share(const std::string& key, TreeManager* lent) {
    lent->retain();
    managers_[key] = lent;
  }

 private:
  std::map<std::string, TreeManager*> managers_;
};
thread_local Stash stash;

/// The worker keeps what the main thread lends it; both let go at their ends.
void lend(void (Stash::*keep)(const std::string&, TreeManager*)) {
  auto* const manager = new TreeManager;
  manager->retain();  // for the duration of the call
  std::thread worker([=] {
    (stash.*keep)("tree_manager", manager);
    manager->release();
  });
  manager->release();
  worker.join();
}

WEFT_SCENARIO(lent_reference_buggy, {.name = "graph_trees/lent_reference.buggy",
                                     .summary = "a stash keeps a reference that was only lent",
                                     .expect = weft::must_find("use_after_free", "memory_error"),
                                     .budget = 500}) {
  lend(&Stash::take_over);
}

WEFT_SCENARIO(lent_reference_fixed, {.name = "graph_trees/lent_reference.fixed",
                                     .summary = "a stash adds a reference of its own",
                                     .expect = weft::must_pass(),
                                     .budget = 500}) {
  lend(&Stash::share);
}

}  // namespace
