// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How threads end: by return and by pthread_exit, with thread_local objects and
// key values to destroy, joined and detached.

#include <pthread.h>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <weft/scenario.h>

namespace {

std::atomic<int> locals_destroyed{0};
std::atomic<int> values_destroyed{0};
std::atomic<int> frames_unwound{0};

struct Local {
  int value = 7;
  ~Local() {
    // A destructor may use other thread_local objects, and locks.
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    ++locals_destroyed;
  }
};
thread_local Local local;
thread_local int plain = 5;

struct Frame {
  ~Frame() { ++frames_unwound; }
};

void* leave_early(void* key) {
  assert(plain == 5 && local.value == 7);  // fresh, whoever had this kernel thread before
  plain = 6;
  local.value = 8;
  pthread_setspecific(*static_cast<pthread_key_t*>(key), &local);
  const Frame frame;
  try {
    pthread_exit(&frames_unwound);
  } catch (const std::exception&) {
    assert(false);  // pthread_exit is no exception of the standard's
  }
  return nullptr;
}

WEFT_SCENARIO(thread_end, {.name = "facilities/thread_end",
                           .summary = "destructors, exits and results of threads",
                           .expect = weft::must_pass(),
                           .budget = 300}) {
  pthread_key_t key;
  assert(pthread_key_create(&key, [](void*) { ++values_destroyed; }) == 0);
  assert(pthread_getspecific(key) == nullptr);
  for (int round = 1; round <= 2; ++round) {
    pthread_t threads[2];
    for (pthread_t& thread : threads)
      assert(pthread_create(&thread, nullptr, &leave_early, &key) == 0);
    for (const pthread_t thread : threads) {
      void* result = nullptr;
      assert(pthread_join(thread, &result) == 0);
      assert(result == &frames_unwound);
    }
    assert(locals_destroyed == 2 * round);
    assert(values_destroyed == 2 * round);
    assert(frames_unwound == 2 * round);
  }
  assert(pthread_join(pthread_self(), nullptr) == EDEADLK);
  assert(pthread_key_delete(key) == 0);
}

/// A worker that nobody stops: it outlives the body, as at the end of a process.
WEFT_SCENARIO(left_waiting, {.name = "facilities/left_waiting",
                             .summary = "a detached thread still waits when the test returns",
                             .expect = weft::must_pass(),
                             .budget = 300}) {
  static std::mutex mutex;
  static std::condition_variable wanted;
  static int jobs = 0;
  assert(jobs == 0 && plain == 5);
  plain = 9;
  std::thread([] {
    plain = 10;
    std::unique_lock lock(mutex);
    for (;;) {
      wanted.wait(lock, [] { return jobs > 0; });
      --jobs;
    }
  }).detach();
  const std::lock_guard lock(mutex);
  ++jobs;
  wanted.notify_one();
}

}  // namespace
