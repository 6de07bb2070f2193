// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A worker sleeps until there is a job or it is asked to stop. A stop request takes
// no lock, so with a plain condition variable it comes between the worker's look
// and its sleep. condition_variable_any knows of stop tokens and closes the gap.

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include <weft/scenario.h>

namespace {

class PlainWorker {
 public:
  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      changed_.wait(lock, [&] { return jobs_ > 0 || stop.stop_requested(); });
      jobs_ = 0;
    }
  }
  void add_job() {
    const std::lock_guard lock(mutex_);
    ++jobs_;
    changed_.notify_one();
  }
  void stop(std::jthread& thread) {
    thread.request_stop();
    changed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int jobs_ = 0;
};

class StoppableWorker {
 public:
  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [&] { return jobs_ > 0; })) jobs_ = 0;
  }
  void add_job() {
    const std::lock_guard lock(mutex_);
    ++jobs_;
    changed_.notify_one();
  }
  void stop(std::jthread& thread) { thread.request_stop(); }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  int jobs_ = 0;
};

template <typename Worker>
void one_job() {
  Worker worker;
  std::jthread thread([&](const std::stop_token& stop) { worker.run(stop); });
  worker.add_job();
  worker.stop(thread);
  thread.join();
}

WEFT_SCENARIO(stop_token_buggy, {.name = "classic/stop_token.buggy",
                                 .summary = "a stop request between a worker's check and its sleep",
                                 .expect = weft::must_find("deadlock"),
                                 .budget = 500}) {
  one_job<PlainWorker>();
}

WEFT_SCENARIO(stop_token_fixed, {.name = "classic/stop_token.fixed",
                                 .summary = "the wait itself listens to the stop token",
                                 .expect = weft::must_pass(),
                                 .budget = 500}) {
  one_job<StoppableWorker>();
}

}  // namespace
