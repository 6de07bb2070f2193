// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A function's recordings keep their container alive, and the last of them that
// is dropped, by whichever thread, finalises it under the device's lock. The buggy
// constructor of a new container drops the old one while it holds that lock: it
// waits for itself, if nobody else still has a recording.

#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <weft/scenario.h>

namespace {

std::mutex device_mutex;
int live_containers = 0;

class Container {
 public:
  Container() { ++live_containers; }  // under device_mutex
  ~Container() {
    const std::lock_guard lock(device_mutex);
    --live_containers;
  }
  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;
};

using Recording = std::shared_ptr<Container>;

Recording first_recording() {
  const std::lock_guard lock(device_mutex);
  return std::make_shared<Container>();
}

void replace_under_lock(Recording& recording) {
  const std::lock_guard lock(device_mutex);
  recording = std::make_shared<Container>();
}

void replace(Recording& recording) {
  Recording old;
  const std::lock_guard lock(device_mutex);
  old = std::exchange(recording, std::make_shared<Container>());
}

void record_again(void (*replace)(Recording&)) {
  Recording recording = first_recording();
  std::thread replayer([replayed = recording]() mutable { replayed = nullptr; });
  replace(recording);
  replayer.join();
}

WEFT_SCENARIO(finaliser_lock_buggy, {.name = "graph_trees/finaliser_lock.buggy",
                                     .summary = "a finaliser wants the lock of its caller",
                                     .expect = weft::must_find("deadlock"),
                                     .budget = 500}) {
  record_again(replace_under_lock);
}

WEFT_SCENARIO(finaliser_lock_fixed, {.name = "graph_trees/finaliser_lock.fixed",
                                     .summary = "what is replaced is dropped after the lock",
                                     .expect = weft::must_pass(),
                                     .budget = 500}) {
  record_again(replace);
}

}  // namespace
