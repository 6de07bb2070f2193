// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A settings table that many read and one updates. Readers overlap, and as long as
// one is in, others may follow: the writer waits for a moment without readers that
// need not come. The fixed table has a door that the writer shuts while it waits.

#include <mutex>
#include <shared_mutex>
#include <thread>

#include <weft/scenario.h>

namespace {

constexpr int kLookUps = 10;

class Settings {
 public:
  void watch(std::uint64_t most) { weft::bounded_bypass(&mutex_, most); }
  int look_up() {
    const std::shared_lock lock(mutex_);
    return value_;
  }
  void update(int value) {
    const std::lock_guard lock(mutex_);
    value_ = value;
  }

 private:
  std::shared_mutex mutex_;
  int value_ = 0;
};

class SettingsWithDoor {
 public:
  void watch(std::uint64_t most) { settings_.watch(most); }
  int look_up() {
    { const std::lock_guard passed(door_); }
    return settings_.look_up();
  }
  void update(int value) {
    const std::lock_guard shut(door_);
    settings_.update(value);
  }

 private:
  std::mutex door_;
  Settings settings_;
};

template <typename Table>
void update_once() {
  Table settings;
  // Two that are past the door already.
  settings.watch(2);
  const auto look_up = [&] {
    for (int i = 0; i < kLookUps; ++i) (void)settings.look_up();
  };
  std::thread one(look_up);
  std::thread other(look_up);
  settings.update(1);
  one.join();
  other.join();
}

WEFT_SCENARIO(writer_starvation_buggy, {.name = "classic/writer_starvation.buggy",
                                        .summary = "readers overlap, and the writer waits on",
                                        .expect = weft::must_find("starvation"),
                                        .budget = 500}) {
  update_once<Settings>();
}

WEFT_SCENARIO(writer_starvation_fixed, {.name = "classic/writer_starvation.fixed",
                                        .summary = "a door that the waiting writer shuts",
                                        .expect = weft::must_pass(),
                                        .budget = 500}) {
  update_once<SettingsWithDoor>();
}

}  // namespace
