// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Semaphores: std::counting_semaphore, unnamed and named POSIX ones.

#include <fcntl.h>
#include <semaphore.h>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <semaphore>
#include <thread>

#include <weft/scenario.h>

namespace {

using std::chrono::milliseconds;

WEFT_SCENARIO(std_semaphore, {.name = "facilities/std_semaphore",
                              .summary = "a std semaphore hands over what its releaser did",
                              .expect = weft::must_pass(),
                              .budget = 300}) {
  // Each waits at zero only: what libstdc++ 12 does otherwise is real/std_semaphore.buggy.
  std::counting_semaphore<3> filled(0);
  std::counting_semaphore<3> emptied(0);
  int items[2] = {};
  std::thread filler([&] {
    items[0] = items[1] = 1;
    filled.release(2);
    emptied.acquire();
    assert(items[0] + items[1] == 0);
  });
  filled.acquire();
  filled.acquire();
  assert(items[0] + items[1] == 2);
  items[0] = items[1] = 0;
  emptied.release();
  filler.join();
  std::binary_semaphore never(0);
  assert(!never.try_acquire());
  assert(!never.try_acquire_for(milliseconds(3)));
  assert(!never.try_acquire_until(std::chrono::steady_clock::now() + milliseconds(3)));
}

WEFT_SCENARIO(posix_semaphore, {.name = "facilities/posix_semaphore",
                                .summary = "a POSIX semaphore hands over what its poster did",
                                .expect = weft::must_pass(),
                                .budget = 300}) {
  sem_t filled;
  sem_t empty;
  assert(sem_init(&filled, 0, 0) == 0 && sem_init(&empty, 0, 1) == 0);
  int slot = 0;
  std::thread producer([&] {
    for (int item = 1; item <= 2; ++item) {
      assert(sem_wait(&empty) == 0);
      slot = item;
      assert(sem_post(&filled) == 0);
    }
  });
  for (int item = 1; item <= 2; ++item) {
    while (sem_trywait(&filled) != 0) {
      assert(errno == EAGAIN);
      std::this_thread::yield();
    }
    assert(slot == item);
    assert(sem_post(&empty) == 0);
  }
  producer.join();
  int value = -1;
  assert(sem_getvalue(&empty, &value) == 0 && value == 1);
  assert(sem_getvalue(&filled, &value) == 0 && value == 0);
  timespec soon;
  clock_gettime(CLOCK_REALTIME, &soon);
  soon.tv_sec += 1;
  assert(sem_timedwait(&filled, &soon) == -1 && errno == ETIMEDOUT);
  clock_gettime(CLOCK_MONOTONIC, &soon);
  soon.tv_sec += 1;
  assert(sem_clockwait(&filled, CLOCK_MONOTONIC, &soon) == -1 && errno == ETIMEDOUT);
  assert(sem_clockwait(&empty, CLOCK_MONOTONIC, &soon) == 0);
  assert(sem_destroy(&filled) == 0 && sem_destroy(&empty) == 0);
}

WEFT_SCENARIO(named_semaphore, {.name = "facilities/named_semaphore",
                                .summary = "one of two creators of a name wins, and nothing stays",
                                .expect = weft::must_pass(),
                                .budget = 300}) {
  constexpr const char* kName = "/weft_facilities";
  assert(sem_open(kName, 0) == SEM_FAILED && errno == ENOENT);
  int created = 0;
  std::thread other([&] {
    sem_t* const mine = sem_open(kName, O_CREAT | O_EXCL, 0600, 0u);
    if (mine == SEM_FAILED) {
      assert(errno == EEXIST);
      return;
    }
    ++created;
    assert(sem_close(mine) == 0);
  });
  sem_t* const shared = sem_open(kName, O_CREAT, 0600, 0u);
  assert(shared != SEM_FAILED);
  other.join();
  weft::sometimes(created == 1, "the other created the name");
  assert(sem_open(kName, 0) == shared);
  std::thread poster([&] { sem_post(shared); });
  assert(sem_wait(shared) == 0);
  poster.join();
  assert(sem_close(shared) == 0);
  // Left behind it would be told as a leak.
  assert(sem_unlink(kName) == 0);
  assert(sem_unlink(kName) == -1 && errno == ENOENT);
  assert(sem_close(shared) == 0);
}

WEFT_SCENARIO(semaphore_imbalance, {.name = "facilities/semaphore_imbalance.buggy",
                                    .summary = "one post too few: a task waits for ever",
                                    .expect = weft::must_find("deadlock"),
                                    .budget = 10}) {
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  std::thread poster([&] { sem_post(&semaphore); });
  sem_wait(&semaphore);
  sem_wait(&semaphore);
  poster.join();
}

}  // namespace
