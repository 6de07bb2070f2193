// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Readers-writer locks: std::shared_mutex, std::shared_timed_mutex and pthread_rwlock_t.

#include <pthread.h>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <shared_mutex>
#include <system_error>
#include <thread>

#include <weft/scenario.h>

namespace {

using std::chrono::milliseconds;

WEFT_SCENARIO(shared_mutex, {.name = "facilities/shared_mutex",
                             .summary = "readers share, a writer is alone, and both see the whole",
                             .expect = weft::must_pass(),
                             .budget = 300}) {
  std::shared_mutex mutex;
  int left = 0;
  int right = 0;
  std::thread writer([&] {
    for (int i = 0; i < 2; ++i) {
      const std::lock_guard lock(mutex);
      ++left;
      ++right;
    }
  });
  std::thread reader([&] {
    const std::shared_lock lock(mutex);
    assert(left == right);
  });
  if (mutex.try_lock_shared()) {
    weft::sometimes(left == 1, "read between the writer's two sections");
    assert(left == right);
    mutex.unlock_shared();
  }
  if (mutex.try_lock()) {
    assert(left == right);
    mutex.unlock();
  }
  writer.join();
  reader.join();
  assert(left == 2 && right == 2);
}

WEFT_SCENARIO(shared_timed_mutex, {.name = "facilities/shared_timed_mutex",
                                   .summary = "timed locks give up when their time has come",
                                   .expect = weft::must_pass(),
                                   .budget = 300}) {
  std::shared_timed_mutex mutex;
  {
    const std::shared_lock held(mutex);
    std::thread([&] {
      assert(mutex.try_lock_shared_for(milliseconds(1)));
      mutex.unlock_shared();
      const auto begin = std::chrono::steady_clock::now();
      assert(!mutex.try_lock_for(milliseconds(5)));
      assert(std::chrono::steady_clock::now() - begin >= milliseconds(5));
    }).join();
  }
  std::thread other([&] {
    if (!mutex.try_lock_shared_until(std::chrono::system_clock::now() + milliseconds(2))) return;
    mutex.unlock_shared();
  });
  mutex.lock();
  std::this_thread::sleep_for(milliseconds(1));
  mutex.unlock();
  other.join();
}

WEFT_SCENARIO(rwlock_errors, {.name = "facilities/rwlock_errors",
                              .summary = "a pthread_rwlock_t answers as POSIX says",
                              .expect = weft::must_pass(),
                              .budget = 100}) {
  pthread_rwlock_t lock;
  assert(pthread_rwlock_init(&lock, nullptr) == 0);
  assert(pthread_rwlock_wrlock(&lock) == 0);
  assert(pthread_rwlock_wrlock(&lock) == EDEADLK);
  assert(pthread_rwlock_rdlock(&lock) == EDEADLK);
  assert(pthread_rwlock_tryrdlock(&lock) == EBUSY);
  std::thread([&] { assert(pthread_rwlock_trywrlock(&lock) == EBUSY); }).join();
  assert(pthread_rwlock_unlock(&lock) == 0);
  assert(pthread_rwlock_rdlock(&lock) == 0 && pthread_rwlock_rdlock(&lock) == 0);
  assert(pthread_rwlock_trywrlock(&lock) == EBUSY);
  assert(pthread_rwlock_unlock(&lock) == 0 && pthread_rwlock_unlock(&lock) == 0);
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  assert(pthread_rwlock_timedwrlock(&lock, &now) == 0);
  std::thread([&] { assert(pthread_rwlock_timedrdlock(&lock, &now) == ETIMEDOUT); }).join();
  assert(pthread_rwlock_unlock(&lock) == 0);
  assert(pthread_rwlock_destroy(&lock) == 0);
}

WEFT_SCENARIO(rwlock_upgrade, {.name = "facilities/rwlock_upgrade.buggy",
                               .summary = "a reader that wants to write waits for itself",
                               .expect = weft::must_find("deadlock"),
                               .budget = 10}) {
  std::shared_mutex mutex;
  const std::shared_lock reading(mutex);
  mutex.lock();
}

WEFT_SCENARIO(rwlock_cycle,
              {.name = "facilities/rwlock_cycle.buggy",
               .summary = "a writer waits for the second of two readers, which waits for it",
               .expect = weft::must_find("deadlock"),
               .budget = 300}) {
  std::shared_mutex outer;
  std::shared_mutex inner;
  std::shared_lock bystander(outer);
  std::thread reader([&] {
    const std::shared_lock first(outer);
    const std::shared_lock second(inner);
  });
  std::thread writer([&] {
    const std::lock_guard first(inner);
    const std::lock_guard second(outer);
  });
  bystander.unlock();
  reader.join();
  writer.join();
}

}  // namespace
