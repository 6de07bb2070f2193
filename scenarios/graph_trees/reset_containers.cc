// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Each device has a lock and, once somebody asked, a tree manager. Between two
// warm-ups everything is reset.
//
// reset_iterates: the reset walks over the table of locks while another thread's
// first request for a device inserts one.
// reset_clears: the table has a lock of its own (in the original the interpreter's,
// which makes each single operation on a dictionary whole). The reset still clears
// the managers without the devices' locks, between a request's look and its entry:
// two threads record with two managers of one device.

#include <atomic>
#include <cassert>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include <weft/scenario.h>

namespace {

struct Manager {};

class UnlockedContainers {
 public:
  std::shared_ptr<Manager> manager_of(int device) {
    const std::lock_guard lock(locks_[device]);
    std::shared_ptr<Manager>& manager = managers_[device];
    if (manager == nullptr) manager = std::make_shared<Manager>();
    return manager;
  }
  void reset() {
    for (auto& [device, device_lock] : locks_) {
      const std::lock_guard lock(device_lock);
      managers_.erase(device);
    }
  }

 private:
  std::map<int, std::mutex> locks_;
  std::map<int, std::shared_ptr<Manager>> managers_;
};

class LockedContainers {
 public:
  std::shared_ptr<Manager> manager_of(int device) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Manager>& manager = managers_[device];
    if (manager == nullptr) manager = std::make_shared<Manager>();
    return manager;
  }
  void reset() {
    const std::lock_guard lock(mutex_);
    managers_.clear();
  }

 private:
  std::mutex mutex_;
  std::map<int, std::shared_ptr<Manager>> managers_;
};

template <typename Containers>
void reset_during_request() {
  Containers containers;
  containers.manager_of(0);
  std::thread second_device([&] { containers.manager_of(1); });
  containers.reset();
  second_device.join();
}

WEFT_SCENARIO(reset_iterates_buggy, {.name = "graph_trees/reset_iterates.buggy",
                                     .summary = "a reset iterates while a lock is inserted",
                                     .expect = weft::must_find("data_race"),
                                     .budget = 500}) {
  reset_during_request<UnlockedContainers>();
}

WEFT_SCENARIO(reset_iterates_fixed, {.name = "graph_trees/reset_iterates.fixed",
                                     .summary = "one lock for the table and what is in it",
                                     .expect = weft::must_pass(),
                                     .budget = 500}) {
  reset_during_request<LockedContainers>();
}

/// The managers of one device; a step on the table is whole, a request is not.
class Device {
 public:
  using Table = std::unique_lock<std::mutex>;

  /// The caller records with what it gets until it calls finish_recording().
  std::shared_ptr<Manager> start_recording() {
    const std::lock_guard lock(device_mutex_);
    std::shared_ptr<Manager> manager = look_up();
    if (manager == nullptr) manager = enter(std::make_shared<Manager>());
    Table table(table_mutex_);
    ++recordings_;
    assert(recordings_ == 1 || manager == recorder_);  // one manager per device
    recorder_ = manager;
    return manager;
  }
  void finish_recording() {
    const Table table(table_mutex_);
    if (--recordings_ == 0) recorder_ = nullptr;
  }

  void reset_table() {
    { const std::lock_guard lock(device_mutex_); }  // whoever is inside comes out first
    const Table table(table_mutex_);
    manager_ = nullptr;
  }
  void reset_when_idle() {
    const std::lock_guard lock(device_mutex_);
    const Table table(table_mutex_);
    if (recordings_ == 0) manager_ = nullptr;
  }

 private:
  std::shared_ptr<Manager> look_up() {
    const Table table(table_mutex_);
    return manager_;
  }
  std::shared_ptr<Manager> enter(std::shared_ptr<Manager> manager) {
    const Table table(table_mutex_);
    manager_ = manager;
    return manager;
  }

  std::mutex device_mutex_;
  std::mutex table_mutex_;
  std::shared_ptr<Manager> manager_;
  std::shared_ptr<Manager> recorder_;
  int recordings_ = 0;
};

void reset_during_recording(void (Device::*reset)()) {
  Device device;
  const auto record = [&] {
    device.start_recording();
    device.finish_recording();
  };
  std::thread other(record);
  std::thread resetter([&] { (device.*reset)(); });
  record();
  other.join();
  resetter.join();
}

WEFT_SCENARIO(reset_clears_buggy, {.name = "graph_trees/reset_clears.buggy",
                                   .summary = "a reset leaves two managers of one device",
                                   .expect = weft::must_find("assertion"),
                                   .budget = 2000}) {
  reset_during_recording(&Device::reset_table);
}

WEFT_SCENARIO(reset_clears_fixed, {.name = "graph_trees/reset_clears.fixed",
                                   .summary = "a reset leaves a manager that records",
                                   .expect = weft::must_pass(),
                                   .budget = 2000}) {
  reset_during_recording(&Device::reset_when_idle);
}

}  // namespace
