// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Waits with deadlines, in virtual time: an hour costs nothing, and what comes
// first is explored, not raced.

#include <pthread.h>
#include <unistd.h>
#include <cassert>
#include <cerrno>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <thread>

#include <weft/scenario.h>

namespace {

using std::chrono::hours;
using std::chrono::steady_clock;
using std::chrono::system_clock;

timespec in_an_hour(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  time.tv_sec += 3600;
  return time;
}

/// pthread_cond_timedwait on the clock that the attributes chose.
void time_out(clockid_t clock) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, clock);
  pthread_cond_t condition;
  pthread_cond_init(&condition, &attributes);
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const timespec until = in_an_hour(clock);
  pthread_mutex_lock(&mutex);
  assert(pthread_cond_timedwait(&condition, &mutex, &until) == ETIMEDOUT);
  pthread_mutex_unlock(&mutex);
  timespec now;
  clock_gettime(clock, &now);
  assert(now.tv_sec >= until.tv_sec);
  pthread_cond_destroy(&condition);
}

WEFT_SCENARIO(deadlines, {.name = "facilities/deadlines",
                          .summary = "sleeps and timed waits on both clocks end in order",
                          .expect = weft::must_pass(),
                          .budget = 300}) {
  time_out(CLOCK_MONOTONIC);
  time_out(CLOCK_REALTIME);

  const auto before = steady_clock::now();
  std::thread sleeper([before] {
    std::this_thread::sleep_until(before + hours(2));
    assert(steady_clock::now() - before >= hours(2));
  });
  sleep(60);
  usleep(1000);
  std::this_thread::sleep_until(system_clock::now() + hours(1));
  assert(steady_clock::now() - before >= hours(1));
  sleeper.join();
}

/// Signal against time-out: both happen, on different schedules.
WEFT_SCENARIO(notify_or_time_out, {.name = "facilities/notify_or_time_out",
                                   .summary = "a notify races a time-out, and both may win",
                                   .expect = weft::must_pass(),
                                   .budget = 500}) {
  std::mutex mutex;
  std::condition_variable changed;
  bool ready = false;
  std::thread other([&] {
    const std::lock_guard lock(mutex);
    ready = true;
    changed.notify_one();
  });
  std::unique_lock lock(mutex);
  const bool notified = changed.wait_for(lock, std::chrono::milliseconds(1), [&] { return ready; });
  weft::sometimes(notified, "notified in time");
  weft::sometimes(!notified, "timed out");
  assert(notified == ready);
  lock.unlock();
  other.join();
}

}  // namespace
