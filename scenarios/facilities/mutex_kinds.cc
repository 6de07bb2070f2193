// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Mutexes of every kind that glibc has and Weftwork controls: what each returns
// to its owner and to others.

#include <pthread.h>
#include <cassert>
#include <cerrno>
#include <ctime>
#include <thread>

#include <weft/scenario.h>

namespace {

class Mutex {
 public:
  explicit Mutex(int type) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutex_init(&mutex_, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }
  ~Mutex() { assert(pthread_mutex_destroy(&mutex_) == 0); }
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  int lock() { return pthread_mutex_lock(&mutex_); }
  int try_lock() { return pthread_mutex_trylock(&mutex_); }
  int unlock() { return pthread_mutex_unlock(&mutex_); }
  int lock_until(clockid_t clock, const timespec& time) {
    return pthread_mutex_clocklock(&mutex_, clock, &time);
  }

 private:
  pthread_mutex_t mutex_;
};

/// Two threads add under `mutex`, one with lock() and one with try_lock() in a loop.
void exclude(Mutex& mutex) {
  int sum = 0;
  std::thread other([&] {
    while (mutex.try_lock() == EBUSY) std::this_thread::yield();
    ++sum;
    mutex.unlock();
  });
  mutex.lock();
  ++sum;
  mutex.unlock();
  other.join();
  assert(sum == 2);
}

WEFT_SCENARIO(mutex_kinds, {.name = "facilities/mutex_kinds",
                            .summary = "each kind of mutex keeps its promises",
                            .expect = weft::must_pass(),
                            .budget = 300}) {
  Mutex normal(PTHREAD_MUTEX_NORMAL);
  exclude(normal);
  Mutex adaptive(PTHREAD_MUTEX_ADAPTIVE_NP);
  exclude(adaptive);

  Mutex recursive(PTHREAD_MUTEX_RECURSIVE);
  exclude(recursive);
  assert(recursive.lock() == 0 && recursive.lock() == 0 && recursive.try_lock() == 0);
  std::thread([&] { assert(recursive.try_lock() == EBUSY); }).join();
  assert(recursive.unlock() == 0 && recursive.unlock() == 0 && recursive.unlock() == 0);
  assert(recursive.unlock() == EPERM);

  Mutex checking(PTHREAD_MUTEX_ERRORCHECK);
  exclude(checking);
  assert(checking.lock() == 0);
  assert(checking.lock() == EDEADLK);
  std::thread([&] { assert(checking.unlock() == EPERM); }).join();
  assert(checking.unlock() == 0);

  timespec soon;
  clock_gettime(CLOCK_MONOTONIC, &soon);
  soon.tv_sec += 1;
  assert(normal.lock() == 0);
  std::thread([&] { assert(normal.lock_until(CLOCK_MONOTONIC, soon) == ETIMEDOUT); }).join();
  assert(normal.unlock() == 0);
}

}  // namespace
