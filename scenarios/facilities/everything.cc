// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the standard library offers to threads, all at once, in a correct program:
// for determinism and for false alarms.

#include <atomic>
#include <barrier>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <thread>

#include <weft/scenario.h>

namespace {

using std::chrono::milliseconds;

std::atomic<int> constructed{0};
std::atomic<int> destroyed{0};
struct PerThread {
  PerThread() { ++constructed; }
  ~PerThread() { ++destroyed; }
  int uses = 0;
};
thread_local PerThread per_thread;

struct Magic {
  Magic() { std::this_thread::yield(); }
  int value = 42;
};
int magic() {
  static const Magic instance;
  return instance.value;
}

/// Three items from a producer to a consumer; the stash of both threads is used.
class Channel {
 public:
  void produce() {
    ++per_thread.uses;
    for (int item = 1; item <= 3; ++item) {
      const std::lock_guard lock(mutex_);
      items_.push_back(item);
      changed_.notify_one();
    }
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

  int consume() {
    ++per_thread.uses;
    int sum = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return closed_ || !items_.empty(); });
      for (; !items_.empty(); items_.pop_front()) sum += items_.front();
      if (closed_) return sum;
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<int> items_;
  bool closed_ = false;
};

void pass_items() {
  Channel channel;
  int sum = 0;
  std::thread producer([&] { channel.produce(); });
  std::thread consumer([&] { sum = channel.consume(); });
  producer.join();
  consumer.join();
  assert(sum == 6);
  assert(constructed == 2 && destroyed == 2);
}

void meet() {
  std::latch ready(2);
  std::barrier phase(2);
  std::counting_semaphore<4> permits(0);
  std::atomic<int> word{0};
  std::thread other([&] {
    ready.arrive_and_wait();
    permits.acquire();
    word.wait(0);
    phase.arrive_and_wait();
    assert(magic() == 42);
  });
  ready.arrive_and_wait();
  permits.release();
  word.store(1);
  word.notify_one();
  phase.arrive_and_wait();
  assert(magic() == 42);
  other.join();
}

void wait_with_limits() {
  std::mutex mutex;
  std::timed_mutex timed;
  std::recursive_mutex recursive;
  std::condition_variable changed;
  std::thread other([&] {
    if (timed.try_lock_for(milliseconds(5))) timed.unlock();
    const std::scoped_lock twice(recursive);
    const std::scoped_lock again(recursive);
  });
  const auto begin = std::chrono::steady_clock::now();
  {
    std::unique_lock lock(mutex);
    assert(!changed.wait_for(lock, milliseconds(50), [] { return false; }));
  }
  {
    const std::lock_guard lock(timed);
    std::this_thread::sleep_for(std::chrono::hours(1));
  }
  assert(std::chrono::steady_clock::now() - begin >= std::chrono::hours(1));
  other.join();
}

void promise_and_stop() {
  std::promise<int> promise;
  std::future<int> promised = promise.get_future();
  std::thread([promise = std::move(promise)]() mutable { promise.set_value(3); }).detach();
  std::future<int> computed = std::async(std::launch::async, [] { return 4; });
  assert(promised.get() + computed.get() == 7);

  std::jthread spinner([](const std::stop_token& stop) {
    while (!stop.stop_requested()) std::this_thread::yield();
  });
}

WEFT_SCENARIO(everything, {.name = "facilities/everything",
                           .summary = "every controlled facility in one correct program",
                           .expect = weft::must_pass(),
                           .budget = 500}) {
  pass_items();
  meet();
  wait_with_limits();
  promise_and_stop();
}

}  // namespace
