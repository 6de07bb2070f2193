// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What POSIX leaves undefined of locks, and glibc lets pass: unlocked by who does not hold them,
// initialised or destroyed while held, used after their end.

#include <pthread.h>
#include <threads.h>
#include <cassert>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <thread>

#include <weft/scenario.h>

namespace {

WEFT_SCENARIO(rwlock_never_locked, {.name = "facilities/lock_misuse.rwlock_never_locked",
                                    .summary = "nobody holds what is unlocked",
                                    .expect = weft::must_find("lock_misuse"),
                                    .budget = 10}) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_rwlock_unlock(&lock);
}

WEFT_SCENARIO(rwlock_unlocked_twice, {.name = "facilities/lock_misuse.rwlock_unlocked_twice",
                                      .summary = "one reader unlocks for another",
                                      .expect = weft::must_find("lock_misuse"),
                                      .budget = 100}) {
  std::shared_mutex mutex;
  std::thread other([&] { const std::shared_lock lock(mutex); });
  mutex.lock_shared();
  mutex.unlock_shared();
  mutex.unlock_shared();
  other.join();
}

WEFT_SCENARIO(rwlock_of_a_writer, {.name = "facilities/lock_misuse.rwlock_of_a_writer",
                                   .summary = "a thread unlocks what another one writes under",
                                   .expect = weft::must_find("lock_misuse"),
                                   .budget = 10}) {
  std::shared_mutex mutex;
  mutex.lock();
  std::thread([&] { mutex.unlock(); }).join();
}

WEFT_SCENARIO(rwlock_of_readers, {.name = "facilities/lock_misuse.rwlock_of_readers",
                                  .summary = "a thread unlocks what only others read under",
                                  .expect = weft::must_find("lock_misuse"),
                                  .budget = 10}) {
  std::shared_timed_mutex mutex;
  mutex.lock_shared();
  std::thread([&] { mutex.unlock_shared(); }).join();
}

WEFT_SCENARIO(rwlock_destroyed, {.name = "facilities/lock_misuse.rwlock_destroyed",
                                 .summary = "a readers-writer lock ends while somebody reads",
                                 .expect = weft::must_find("lock_misuse"),
                                 .budget = 10}) {
  pthread_rwlock_t lock;
  pthread_rwlock_init(&lock, nullptr);
  pthread_rwlock_rdlock(&lock);
  pthread_rwlock_destroy(&lock);
}

WEFT_SCENARIO(spin_of_another, {.name = "facilities/lock_misuse.spin_of_another",
                                .summary = "a thread unlocks a spin lock that another one holds",
                                .expect = weft::must_find("lock_misuse"),
                                .budget = 10}) {
  pthread_spinlock_t lock;
  pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
  pthread_spin_lock(&lock);
  std::thread([&] { pthread_spin_unlock(&lock); }).join();
}

WEFT_SCENARIO(spin_unlocked_twice, {.name = "facilities/lock_misuse.spin_unlocked_twice",
                                    .summary = "a spin lock that is free already",
                                    .expect = weft::must_find("lock_misuse"),
                                    .budget = 10}) {
  pthread_spinlock_t lock;
  pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
  pthread_spin_lock(&lock);
  pthread_spin_unlock(&lock);
  pthread_spin_unlock(&lock);
}

WEFT_SCENARIO(spin_freed, {.name = "facilities/lock_misuse.spin_freed",
                           .summary = "a spin lock goes with the block that it is in",
                           .expect = weft::must_find("lock_misuse"),
                           .budget = 10}) {
  auto* const lock = new pthread_spinlock_t;
  pthread_spin_init(lock, PTHREAD_PROCESS_PRIVATE);
  pthread_spin_lock(lock);
  delete lock;
}

WEFT_SCENARIO(mutex_initialised_while_held,
              {.name = "facilities/lock_misuse.mutex_initialised_while_held",
               .summary = "lazy initialisation comes a second time, to a locked mutex",
               .expect = weft::must_find("lock_misuse"),
               .budget = 2000}) {
  static pthread_mutex_t mutex;
  static bool ready;
  ready = false;
  const auto use = [] {
    if (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) {
      std::this_thread::yield();  // asks for the attributes
      pthread_mutex_init(&mutex, nullptr);
      __atomic_store_n(&ready, true, __ATOMIC_RELEASE);
    }
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  };
  std::thread other(use);
  use();
  other.join();
}

pthread_mutex_t destroyed_mutex() {
  pthread_mutex_t mutex;
  pthread_mutex_init(&mutex, nullptr);
  pthread_mutex_destroy(&mutex);
  return mutex;
}

WEFT_SCENARIO(mutex_locked_late, {.name = "facilities/lock_misuse.mutex_locked_late",
                                  .summary = "a mutex is locked after it was destroyed",
                                  .expect = weft::must_find("lock_misuse"),
                                  .budget = 10}) {
  pthread_mutex_t mutex = destroyed_mutex();
  pthread_mutex_lock(&mutex);
}

WEFT_SCENARIO(mutex_tried_late, {.name = "facilities/lock_misuse.mutex_tried_late",
                                 .summary = "a mutex is tried after it was destroyed",
                                 .expect = weft::must_find("lock_misuse"),
                                 .budget = 10}) {
  pthread_mutex_t mutex = destroyed_mutex();
  (void)pthread_mutex_trylock(&mutex);
}

WEFT_SCENARIO(mutex_timed_late, {.name = "facilities/lock_misuse.mutex_timed_late",
                                 .summary = "a mutex is waited for after it was destroyed",
                                 .expect = weft::must_find("lock_misuse"),
                                 .budget = 10}) {
  pthread_mutex_t mutex = destroyed_mutex();
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  pthread_mutex_timedlock(&mutex, &now);
}

WEFT_SCENARIO(mutex_unlocked_late, {.name = "facilities/lock_misuse.mutex_unlocked_late",
                                    .summary = "a mutex is unlocked after it was destroyed",
                                    .expect = weft::must_find("lock_misuse"),
                                    .budget = 10}) {
  pthread_mutex_t mutex = destroyed_mutex();
  pthread_mutex_unlock(&mutex);
}

WEFT_SCENARIO(mutex_destroyed_twice, {.name = "facilities/lock_misuse.mutex_destroyed_twice",
                                      .summary = "a mutex is destroyed a second time",
                                      .expect = weft::must_find("lock_misuse"),
                                      .budget = 10}) {
  pthread_mutex_t mutex = destroyed_mutex();
  pthread_mutex_destroy(&mutex);
}

/// A lock that somebody may still use when it ends.
void destroy_after(bool joined) {
  pthread_mutex_t mutex;
  pthread_mutex_init(&mutex, nullptr);
  std::thread other([&] {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  });
  if (joined) other.join();
  pthread_mutex_destroy(&mutex);
  if (!joined) other.join();
}

WEFT_SCENARIO(mutex_destroyed_early, {.name = "facilities/mutex_destroyed_early.buggy",
                                      .summary = "a mutex is destroyed before its last user ended",
                                      .expect = weft::must_find("lock_misuse"),
                                      .budget = 100}) {
  destroy_after(false);
}

WEFT_SCENARIO(mutex_destroyed_late, {.name = "facilities/mutex_destroyed_early.fixed",
                                     .summary = "a mutex is destroyed after its last user ended",
                                     .expect = weft::must_pass(),
                                     .budget = 300}) {
  destroy_after(true);
}

/// All that is allowed: locks in every mode, by threads in turn, initialised and destroyed again.
WEFT_SCENARIO(locks_used_well, {.name = "facilities/lock_misuse.fixed",
                                .summary = "every lock is unlocked by who holds it",
                                .expect = weft::must_pass(),
                                .budget = 300}) {
  pthread_rwlock_t shared;
  pthread_mutex_t mutex;
  pthread_spinlock_t spin;
  for (int round = 0; round < 2; ++round) {
    assert(pthread_rwlock_init(&shared, nullptr) == 0);
    assert(pthread_mutex_init(&mutex, nullptr) == 0);
    assert(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE) == 0);
    const auto use = [&] {
      assert(pthread_rwlock_rdlock(&shared) == 0);
      assert(pthread_rwlock_rdlock(&shared) == 0);
      assert(pthread_mutex_lock(&mutex) == 0);
      assert(pthread_spin_lock(&spin) == 0);
      assert(pthread_spin_unlock(&spin) == 0);
      assert(pthread_mutex_unlock(&mutex) == 0);
      assert(pthread_rwlock_unlock(&shared) == 0);
      assert(pthread_rwlock_unlock(&shared) == 0);
      assert(pthread_rwlock_wrlock(&shared) == 0);
      assert(pthread_rwlock_unlock(&shared) == 0);
    };
    std::thread other(use);
    use();
    other.join();
    assert(pthread_rwlock_destroy(&shared) == 0);
    assert(pthread_mutex_destroy(&mutex) == 0);
    assert(pthread_spin_destroy(&spin) == 0);
  }
}

WEFT_SCENARIO(c11_mutex_destroyed, {.name = "facilities/lock_misuse.c11_destroyed_held",
                                    .summary = "mtx_destroy of a mutex that is held",
                                    .expect = weft::must_find("lock_misuse"),
                                    .budget = 10}) {
  mtx_t mutex;
  assert(mtx_init(&mutex, mtx_plain) == thrd_success);
  assert(mtx_lock(&mutex) == thrd_success);
  mtx_destroy(&mutex);
}

}  // namespace
