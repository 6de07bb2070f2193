// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A request that its sender awaits and then deletes. The buggy server sets `done`
// under the lock and notifies after it: the sender may have seen `done`, returned
// and deleted the condition variable by then. Under the lock, the last thing that
// the server does with the request is to unlock it, after which it may go.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include <weft/scenario.h>

namespace {

class Request {
 public:
  void await() {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [this] { return done_; });
  }
  void finish_then_notify() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    finished_.notify_one();
  }
  void finish() {
    const std::lock_guard lock(mutex_);
    done_ = true;
    finished_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable finished_;
  bool done_ = false;
};

void serve(void (Request::*finish)()) {
  auto request = std::make_unique<Request>();
  std::thread server([finish, served = request.get()] { (served->*finish)(); });
  request->await();
  request.reset();
  server.join();
}

WEFT_SCENARIO(condition_in_use_buggy,
              {.name = "classic/condition_in_use.buggy",
               .summary = "a condition variable is deleted before its notify",
               .expect = weft::must_find("data_race", "use_after_free"),
               .budget = 500}) {
  serve(&Request::finish_then_notify);
}

WEFT_SCENARIO(condition_in_use_fixed, {.name = "classic/condition_in_use.fixed",
                                       .summary = "notified under the lock that the waiter needs",
                                       .expect = weft::must_pass(),
                                       .budget = 500}) {
  serve(&Request::finish);
}

}  // namespace
