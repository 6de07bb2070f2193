// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Results that threads leave for each other: future, promise, async, packaged_task; and
// the ends of threads: jthread, stop tokens, notify_all_at_thread_exit, pthread_exit.

#include <pthread.h>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <thread>

#include <weft/scenario.h>

namespace {

using std::chrono::milliseconds;

WEFT_SCENARIO(shared_exception,
              {.name = "facilities/shared_exception",
               .summary = "an exception goes when its last reader is done, whichever that is",
               .expect = weft::must_pass(),
               .budget = 300}) {
  std::packaged_task<int()> task([]() -> int { throw std::runtime_error("late"); });
  std::shared_future<int> future = task.get_future().share();
  const auto read = [](const std::shared_future<int>& result) {
    try {
      result.get();
      assert(false);
    } catch (const std::exception& error) {
      assert(error.what()[0] == 'l');
    }
  };
  std::thread runner(std::move(task));
  std::thread reader(read, future);
  read(future);
  future = {};
  runner.join();
  reader.join();
}

WEFT_SCENARIO(futures, {.name = "facilities/futures",
                        .summary = "futures bring values and exceptions, once and in time",
                        .expect = weft::must_pass(),
                        .budget = 300}) {
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  assert(future.wait_for(milliseconds(1)) == std::future_status::timeout);
  std::thread giver([&] { promise.set_value(3); });
  assert(future.get() == 3);
  giver.join();

  std::packaged_task<int(int)> task([](int x) {
    if (x == 0) throw std::invalid_argument("zero");
    return x;
  });
  std::future<int> failed = task.get_future();
  std::thread runner(std::move(task), 0);
  bool thrown = false;
  try {
    failed.get();
  } catch (const std::invalid_argument&) {
    thrown = true;
  }
  assert(thrown);
  runner.join();

  std::shared_future<int> shared = std::async(std::launch::async, [] { return 4; }).share();
  std::thread reader([shared] { assert(shared.get() == 4); });
  assert(shared.get() == 4);
  reader.join();
  std::future<int> lazy = std::async(std::launch::deferred, [] { return 5; });
  assert(lazy.wait_for(milliseconds(0)) == std::future_status::deferred && lazy.get() == 5);
}

WEFT_SCENARIO(stop_tokens, {.name = "facilities/stop_tokens",
                            .summary = "a stop request ends a wait, and calls back once",
                            .expect = weft::must_pass(),
                            .budget = 300}) {
  std::mutex mutex;
  std::condition_variable_any changed;
  bool ready = false;
  int called = 0;
  std::jthread waiter([&](const std::stop_token& stop) {
    const std::stop_callback note(stop, [&] { ++called; });
    std::unique_lock lock(mutex);
    const bool met = changed.wait(lock, stop, [&] { return ready; });
    assert(met == ready);
    assert(met || stop.stop_requested());
    assert(!changed.wait_for(lock, stop, milliseconds(1), [] { return false; }));
  });
  std::thread maker([&] {
    const std::lock_guard lock(mutex);
    ready = true;
    changed.notify_all();
  });
  const bool first = waiter.request_stop();
  assert(first && !waiter.request_stop());
  maker.join();
  waiter.join();
  assert(called <= 1);  // not at all where the waiter had ended by then

  std::stop_source source;
  std::thread requester([&] { source.request_stop(); });
  {
    const std::stop_callback note(source.get_token(), [&] { called = 5; });
    source.request_stop();
  }
  // A callback that runs elsewhere has ended when its object is gone.
  assert(called == 5);
  requester.join();
}

struct Last {
  int* done = nullptr;
  ~Last() {
    if (done != nullptr) *done = 1;
  }
};
thread_local Last last;

WEFT_SCENARIO(at_thread_exit, {.name = "facilities/at_thread_exit",
                               .summary = "what is notified at thread exit comes after all else",
                               .expect = weft::must_pass(),
                               .budget = 300}) {
  std::mutex mutex;
  std::condition_variable changed;
  bool ready = false;
  int done = 0;
  std::thread ender([&] {
    last.done = &done;
    std::unique_lock lock(mutex);
    ready = true;
    std::notify_all_at_thread_exit(changed, std::move(lock));
  });
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return ready; });
    assert(done == 1);
  }
  ender.join();

  std::promise<int> promise;
  std::thread([&] { promise.set_value_at_thread_exit(6); }).join();
  assert(promise.get_future().get() == 6);
}

WEFT_SCENARIO(pthread_exits, {.name = "facilities/pthread_exit",
                              .summary = "pthread_exit unwinds, and its value reaches the joiner",
                              .expect = weft::must_pass(),
                              .budget = 100}) {
  static int unwound;
  unwound = 0;
  struct Frame {
    ~Frame() { ++unwound; }
  };
  static int value = 5;
  pthread_t thread;
  assert(pthread_create(
             &thread, nullptr,
             [](void*) -> void* {
               const Frame frame;
               pthread_exit(&value);
             },
             nullptr) == 0);
  void* result = nullptr;
  assert(pthread_join(thread, &result) == 0);
  assert(result == &value && unwound == 1);
}

}  // namespace
