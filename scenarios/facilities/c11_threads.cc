// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// C11 threads and spin locks.

#include <pthread.h>
#include <threads.h>
#include <cassert>
#include <cerrno>

#include <weft/scenario.h>

namespace {

struct Account {
  mtx_t mutex;
  cnd_t changed;
  once_flag once = ONCE_FLAG_INIT;
  tss_t key;
  int balance = 0;
};

int opened = 0;
int thread_ends = 0;

int deposit(void* argument) {
  auto& account = *static_cast<Account*>(argument);
  call_once(&account.once, [] { ++opened; });
  assert(tss_get(account.key) == nullptr);
  assert(tss_set(account.key, &account) == thrd_success);
  assert(tss_get(account.key) == &account);
  assert(mtx_lock(&account.mutex) == thrd_success);
  ++account.balance;
  assert(cnd_signal(&account.changed) == thrd_success);
  assert(mtx_unlock(&account.mutex) == thrd_success);
  thrd_yield();
  if (account.balance < 0) return 0;
  thrd_exit(7);
}

WEFT_SCENARIO(c11_threads, {.name = "facilities/c11_threads",
                            .summary = "C11's threads, mutexes, conditions and keys",
                            .expect = weft::must_pass(),
                            .budget = 300}) {
  opened = 0;
  thread_ends = 0;
  Account account;
  assert(mtx_init(&account.mutex, mtx_timed) == thrd_success);
  assert(cnd_init(&account.changed) == thrd_success);
  assert(tss_create(&account.key, [](void*) { ++thread_ends; }) == thrd_success);
  thrd_t one;
  thrd_t two;
  assert(thrd_create(&one, &deposit, &account) == thrd_success);
  assert(mtx_lock(&account.mutex) == thrd_success);
  while (account.balance < 1) assert(cnd_wait(&account.changed, &account.mutex) == thrd_success);
  assert(mtx_unlock(&account.mutex) == thrd_success);
  int result = 0;
  assert(thrd_join(one, &result) == thrd_success && result == 7);
  assert(thrd_create(&two, &deposit, &account) == thrd_success);
  while (mtx_trylock(&account.mutex) == thrd_busy) thrd_yield();
  assert(account.balance == 1 || account.balance == 2);
  assert(mtx_unlock(&account.mutex) == thrd_success);
  assert(thrd_join(two, &result) == thrd_success && result == 7);
  assert(account.balance == 2 && opened == 1 && thread_ends == 2);
  assert(thrd_equal(thrd_current(), thrd_current()) != 0);

  timespec until;
  assert(timespec_get(&until, TIME_UTC) == TIME_UTC);
  until.tv_sec += 1;
  assert(mtx_lock(&account.mutex) == thrd_success);
  assert(cnd_timedwait(&account.changed, &account.mutex, &until) == thrd_timedout);
  thrd_t late;
  assert(thrd_create(
             &late,
             [](void* argument) {
               timespec due;
               timespec_get(&due, TIME_UTC);
               return mtx_timedlock(static_cast<mtx_t*>(argument), &due);
             },
             &account.mutex) == thrd_success);
  assert(thrd_join(late, &result) == thrd_success && result == thrd_timedout);
  assert(mtx_unlock(&account.mutex) == thrd_success);
  const timespec pause{1, 0};
  assert(thrd_sleep(&pause, nullptr) == 0);
  timespec later;
  timespec_get(&later, TIME_UTC);
  assert(later.tv_sec >= until.tv_sec + 1);
  cnd_destroy(&account.changed);
  mtx_destroy(&account.mutex);
  tss_delete(account.key);
}

WEFT_SCENARIO(spin_lock, {.name = "facilities/spin_lock",
                          .summary = "a spin lock excludes, and nobody spins",
                          .expect = weft::must_pass(),
                          .budget = 300}) {
  struct Shared {
    pthread_spinlock_t lock;
    int sum = 0;
  } shared;
  assert(pthread_spin_init(&shared.lock, PTHREAD_PROCESS_PRIVATE) == 0);
  pthread_t other;
  pthread_create(
      &other, nullptr,
      [](void* argument) -> void* {
        auto& its = *static_cast<Shared*>(argument);
        pthread_spin_lock(&its.lock);
        ++its.sum;
        pthread_spin_unlock(&its.lock);
        return nullptr;
      },
      &shared);
  const int error = pthread_spin_trylock(&shared.lock);
  assert(error == 0 || error == EBUSY);
  if (error == 0) {
    ++shared.sum;
    pthread_spin_unlock(&shared.lock);
  }
  pthread_join(other, nullptr);
  assert(shared.sum == (error == 0 ? 2 : 1));
  assert(pthread_spin_destroy(&shared.lock) == 0);
}

WEFT_SCENARIO(spin_twice, {.name = "facilities/spin_twice.buggy",
                           .summary = "a spin lock is not recursive",
                           .expect = weft::must_find("deadlock"),
                           .budget = 10}) {
  pthread_spinlock_t lock;
  pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
  pthread_spin_lock(&lock);
  pthread_spin_lock(&lock);
}

}  // namespace
