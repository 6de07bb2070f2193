// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The container of a device makes a manager for its first user and lets go of it
// with the last: when the count of users is back at zero, the manager is finalised.
// The buggy user gets the manager and adds itself to the count a moment later,
// when the manager may be an orphan that nobody else will ever be given.

#include <cassert>
#include <memory>
#include <mutex>
#include <thread>

#include <weft/scenario.h>

namespace {

struct Manager {
  bool finalised = false;
};

class Container {
 public:
  std::shared_ptr<Manager> manager() {
    const std::lock_guard lock(mutex_);
    return manager_or_new();
  }
  void add_user() {
    const std::lock_guard lock(mutex_);
    ++users_;
  }
  std::shared_ptr<Manager> manager_for_user() {
    const std::lock_guard lock(mutex_);
    ++users_;
    return manager_or_new();
  }
  void remove_user() {
    const std::lock_guard lock(mutex_);
    if (--users_ > 0) return;
    manager_->finalised = true;
    manager_ = nullptr;
  }
  void record_with(const Manager& manager) {
    const std::lock_guard lock(mutex_);
    assert(!manager.finalised);
  }

 private:
  std::shared_ptr<Manager> manager_or_new() {
    if (manager_ == nullptr) manager_ = std::make_shared<Manager>();
    return manager_;
  }

  std::mutex mutex_;
  std::shared_ptr<Manager> manager_;
  int users_ = 0;
};

void use_in_two_steps(Container& container) {
  const std::shared_ptr<Manager> manager = container.manager();
  container.add_user();
  container.record_with(*manager);
  container.remove_user();
}

void use(Container& container) {
  const std::shared_ptr<Manager> manager = container.manager_for_user();
  container.record_with(*manager);
  container.remove_user();
}

void two_users(void (*use)(Container&)) {
  Container container;
  std::thread other([&] { use(container); });
  use(container);
  other.join();
}

WEFT_SCENARIO(orphan_manager_buggy, {.name = "graph_trees/orphan_manager.buggy",
                                     .summary = "finalised between get-manager and add-user",
                                     .expect = weft::must_find("assertion"),
                                     .budget = 500}) {
  two_users(use_in_two_steps);
}

WEFT_SCENARIO(orphan_manager_fixed, {.name = "graph_trees/orphan_manager.fixed",
                                     .summary = "counted as a user when the manager is given",
                                     .expect = weft::must_pass(),
                                     .budget = 500}) {
  two_users(use);
}

}  // namespace
