// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A painter waits for the canvas and a framer for the frame, both at the one
// condition variable of the studio. The buggy courier wakes one of them with each
// delivery: perhaps the one that it was not for, who goes back to sleep.

#include <condition_variable>
#include <mutex>
#include <thread>

#include <weft/scenario.h>

namespace {

class Studio {
 public:
  void deliver_canvas(bool to_all) { deliver(canvas_, to_all); }
  void deliver_frame(bool to_all) { deliver(frame_, to_all); }
  void await_canvas() { await(canvas_); }
  void await_frame() { await(frame_); }

 private:
  void deliver(bool& item, bool to_all) {
    const std::lock_guard lock(mutex_);
    item = true;
    if (to_all) {
      delivered_.notify_all();
    } else {
      delivered_.notify_one();
    }
  }
  void await(const bool& item) {
    std::unique_lock lock(mutex_);
    delivered_.wait(lock, [&item] { return item; });
  }

  std::mutex mutex_;
  std::condition_variable delivered_;
  bool canvas_ = false;
  bool frame_ = false;
};

void work(bool to_all) {
  Studio studio;
  std::thread painter([&] { studio.await_canvas(); });
  std::thread framer([&] { studio.await_frame(); });
  studio.deliver_canvas(to_all);
  studio.deliver_frame(to_all);
  painter.join();
  framer.join();
}

WEFT_SCENARIO(shared_condition_buggy, {.name = "classic/shared_condition.buggy",
                                       .summary = "notify_one wakes the waiter it was not for",
                                       .expect = weft::must_find("deadlock"),
                                       .budget = 500}) {
  work(false);
}

WEFT_SCENARIO(shared_condition_fixed, {.name = "classic/shared_condition.fixed",
                                       .summary = "notify_all where waiters wait for two things",
                                       .expect = weft::must_pass(),
                                       .budget = 500}) {
  work(true);
}

}  // namespace
