// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A service waits until it is told to shut down. The flag is atomic, so the buggy
// one sets it without the lock: between the waiter's look at the flag and its
// sleep, where the notify reaches nobody.

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <weft/scenario.h>

namespace {

class Shutdown {
 public:
  void await() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return requested_.load(); });
  }
  void request_unlocked() {
    requested_ = true;
    changed_.notify_all();
  }
  void request() {
    {
      const std::lock_guard lock(mutex_);
      requested_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> requested_{false};
};

WEFT_SCENARIO(unlocked_notify_buggy,
              {.name = "classic/unlocked_notify.buggy",
               .summary = "an atomic flag changes between the waiter's check and its sleep",
               .expect = weft::must_find("deadlock"),
               .budget = 500}) {
  Shutdown shutdown;
  std::thread service([&] { shutdown.await(); });
  shutdown.request_unlocked();
  service.join();
}

WEFT_SCENARIO(unlocked_notify_fixed, {.name = "classic/unlocked_notify.fixed",
                                      .summary = "the flag changes under the waiter's lock",
                                      .expect = weft::must_pass(),
                                      .budget = 500}) {
  Shutdown shutdown;
  std::thread service([&] { shutdown.await(); });
  shutdown.request();
  service.join();
}

}  // namespace
