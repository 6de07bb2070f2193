// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Threads that are joined or detached a second time, which POSIX leaves undefined.

#include <pthread.h>
#include <cassert>
#include <ctime>
#include <thread>

#include <weft/scenario.h>

namespace {

pthread_t start() {
  pthread_t thread;
  assert(pthread_create(
             &thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr) == 0);
  return thread;
}

WEFT_SCENARIO(joined_twice, {.name = "facilities/thread_misuse.joined_twice",
                             .summary = "a thread is joined after it was joined",
                             .expect = weft::must_find("lock_misuse"),
                             .budget = 10}) {
  const pthread_t thread = start();
  pthread_join(thread, nullptr);
  pthread_join(thread, nullptr);
}

WEFT_SCENARIO(joined_by_two, {.name = "facilities/thread_misuse.joined_by_two",
                              .summary = "two threads join a third",
                              .expect = weft::must_find("lock_misuse"),
                              .budget = 10}) {
  const pthread_t thread = start();
  std::thread other([=] { pthread_join(thread, nullptr); });
  pthread_join(thread, nullptr);
  other.join();
}

WEFT_SCENARIO(tried_after_join, {.name = "facilities/thread_misuse.tried_after_join",
                                 .summary = "a join is tried of a thread that was joined",
                                 .expect = weft::must_find("lock_misuse"),
                                 .budget = 10}) {
  const pthread_t thread = start();
  pthread_join(thread, nullptr);
  pthread_tryjoin_np(thread, nullptr);
}

WEFT_SCENARIO(joined_after_detach, {.name = "facilities/thread_misuse.joined_after_detach",
                                    .summary = "a thread is joined after it was detached",
                                    .expect = weft::must_find("lock_misuse"),
                                    .budget = 10}) {
  const pthread_t thread = start();
  pthread_detach(thread);
  pthread_join(thread, nullptr);
}

WEFT_SCENARIO(detached_twice, {.name = "facilities/thread_misuse.detached_twice",
                               .summary = "a thread is detached after it was detached",
                               .expect = weft::must_find("lock_misuse"),
                               .budget = 10}) {
  const pthread_t thread = start();
  pthread_detach(thread);
  pthread_detach(thread);
}

WEFT_SCENARIO(detached_after_join, {.name = "facilities/thread_misuse.detached_after_join",
                                    .summary = "a thread is detached after it was joined",
                                    .expect = weft::must_find("lock_misuse"),
                                    .budget = 10}) {
  const pthread_t thread = start();
  pthread_join(thread, nullptr);
  pthread_detach(thread);
}

/// Either the thread detaches itself, or the one that made it does.
WEFT_SCENARIO(detached_by_two, {.name = "facilities/thread_misuse.detached_by_two",
                                .summary = "a thread detaches itself and is detached",
                                .expect = weft::must_find("lock_misuse"),
                                .budget = 100}) {
  pthread_t thread;
  assert(pthread_create(
             &thread, nullptr,
             [](void*) -> void* {
               pthread_detach(pthread_self());
               return nullptr;
             },
             nullptr) == 0);
  pthread_detach(thread);
}

WEFT_SCENARIO(threads_used_well, {.name = "facilities/thread_misuse.fixed",
                                  .summary = "every thread is joined or detached once",
                                  .expect = weft::must_pass(),
                                  .budget = 300}) {
  pthread_detach(start());
  const pthread_t joined = start();
  timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 1;
  if (pthread_tryjoin_np(joined, nullptr) == 0) return;
  if (pthread_timedjoin_np(joined, nullptr, &until) == 0) return;
  assert(pthread_join(joined, nullptr) == 0);
}

}  // namespace
