// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// weft::bounded_bypass counts exactly: a task that takes a lock six times passes a waiting one over
// five times at most, for it must have the lock once for the other to wait at all.

#include <pthread.h>
#include <semaphore.h>
#include <atomic>
#include <mutex>
#include <thread>

#include <weft/scenario.h>

namespace {

constexpr int kTimes = 6;

class SpinLock {
 public:
  SpinLock() { pthread_spin_init(&lock_, PTHREAD_PROCESS_PRIVATE); }
  void lock() { pthread_spin_lock(&lock_); }
  void unlock() { pthread_spin_unlock(&lock_); }
  [[nodiscard]] const volatile void* address() const { return &lock_; }

 private:
  pthread_spinlock_t lock_;
};

class Semaphore {
 public:
  Semaphore() { sem_init(&semaphore_, 0, 1); }
  void lock() { sem_wait(&semaphore_); }
  void unlock() { sem_post(&semaphore_); }
  [[nodiscard]] const volatile void* address() const { return &semaphore_; }

 private:
  sem_t semaphore_;
};

class Mutex : public std::mutex {
 public:
  [[nodiscard]] const volatile void* address() const { return this; }
};

/// A lock taken again by its holder passes nobody over.
class Recursive : public std::recursive_mutex {
 public:
  void lock() {
    std::recursive_mutex::lock();
    std::recursive_mutex::lock();
  }
  void unlock() {
    std::recursive_mutex::unlock();
    std::recursive_mutex::unlock();
  }
  [[nodiscard]] const volatile void* address() const { return this; }
};

template <typename Lock>
void hog(Lock& lock) {
  std::thread hog([&] {
    for (int i = 0; i < kTimes; ++i) {
      lock.lock();
      lock.unlock();
    }
  });
  lock.lock();
  lock.unlock();
  hog.join();
}

/// Which of them is a choice.
template <typename Hog>
void hog_one_of_four(Hog hog) {
  Mutex mutex;
  Recursive recursive;
  SpinLock spin;
  Semaphore semaphore;
  switch (weft::choose(4)) {
    case 0: return hog(mutex);
    case 1: return hog(recursive);
    case 2: return hog(spin);
    default: return hog(semaphore);
  }
}

WEFT_SCENARIO(bypass_within_bound, {.name = "facilities/bounded_bypass.fixed",
                                    .summary = "as many as are allowed are none too many",
                                    .expect = weft::must_pass(),
                                    .budget = 2000}) {
  hog_one_of_four([](auto& lock) {
    weft::bounded_bypass(0);  // the lock's own bound counts
    weft::bounded_bypass(lock.address(), kTimes - 1);
    hog(lock);
  });
}

WEFT_SCENARIO(bypass_mutex, {.name = "facilities/bounded_bypass_mutex.buggy",
                             .summary = "one more than allowed is found: a mutex",
                             .expect = weft::must_find("starvation"),
                             .budget = 500}) {
  Mutex mutex;
  weft::bounded_bypass(&mutex, kTimes - 2);
  hog(mutex);
}

WEFT_SCENARIO(bypass_recursive, {.name = "facilities/bounded_bypass_recursive.buggy",
                                 .summary = "likewise a recursive mutex",
                                 .expect = weft::must_find("starvation"),
                                 .budget = 500}) {
  Recursive mutex;
  weft::bounded_bypass(&mutex, kTimes - 2);
  hog(mutex);
}

WEFT_SCENARIO(bypass_spin, {.name = "facilities/bounded_bypass_spin.buggy",
                            .summary = "likewise a spin lock",
                            .expect = weft::must_find("starvation"),
                            .budget = 500}) {
  SpinLock lock;
  weft::bounded_bypass(lock.address(), kTimes - 2);
  hog(lock);
}

WEFT_SCENARIO(bypass_semaphore, {.name = "facilities/bounded_bypass_semaphore.buggy",
                                 .summary = "likewise a semaphore, by the bound for all",
                                 .expect = weft::must_find("starvation"),
                                 .budget = 500}) {
  Semaphore semaphore;
  weft::bounded_bypass(kTimes - 2);
  hog(semaphore);
}

WEFT_SCENARIO(bypass_unfair,
              {.name = "facilities/bounded_bypass_unfair.fixed",
               .summary = "a strategy that leaves a task out is no fault of the lock",
               .expect = weft::must_pass(),
               .budget = 500,
               .strategy = "pct"}) {
  Mutex mutex;
  weft::bounded_bypass(&mutex, 0);
  std::atomic<int> work{0};
  std::thread hog([&] {
    for (int i = 0; i < 3; ++i) {
      {
        const std::lock_guard lock(mutex);
        ++work;
      }
      // The mutex is free for longer than a fair scheduler lets a task wait.
      for (int step = 0; step < 100; ++step) ++work;
    }
  });
  mutex.lock();
  mutex.unlock();
  hog.join();
}

}  // namespace
