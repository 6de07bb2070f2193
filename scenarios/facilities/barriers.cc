// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Meeting points: std::latch, std::barrier and pthread_barrier_t.

#include <pthread.h>
#include <barrier>
#include <cassert>
#include <latch>
#include <thread>

#include <weft/scenario.h>

namespace {

WEFT_SCENARIO(latch, {.name = "facilities/latch",
                      .summary = "nobody passes a latch before all have counted it down",
                      .expect = weft::must_pass(),
                      .budget = 300}) {
  std::latch done(2);
  int one = 0;
  int two = 0;
  std::thread first([&] {
    one = 1;
    done.count_down();
  });
  std::thread second([&] {
    two = 2;
    done.arrive_and_wait();
    assert(one == 1);
  });
  done.wait();
  assert(one == 1 && two == 2 && done.try_wait());
  first.join();
  second.join();
}

WEFT_SCENARIO(std_barrier,
              {.name = "facilities/std_barrier",
               .summary = "a std barrier completes each phase once, after all arrivals",
               .expect = weft::must_pass(),
               .budget = 300}) {
  int phases = 0;
  int sum = 0;
  int parts[2] = {};
  std::barrier meet(2, [&]() noexcept {
    ++phases;
    sum += parts[0] + parts[1];
  });
  const auto work = [&](int& part) {
    for (int i = 1; i <= 2; ++i) {
      part = i;
      meet.arrive_and_wait();
    }
  };
  std::thread other([&] { work(parts[1]); });
  work(parts[0]);
  other.join();
  assert(phases == 2 && sum == 6);
}

WEFT_SCENARIO(posix_barrier, {.name = "facilities/posix_barrier",
                              .summary = "a POSIX barrier, used again, tells one of each round",
                              .expect = weft::must_pass(),
                              .budget = 300}) {
  pthread_barrier_t barrier;
  assert(pthread_barrier_init(&barrier, nullptr, 3) == 0);
  int parts[3] = {};
  int serial[3] = {};
  const auto work = [&](int self) {
    for (int round = 1; round <= 2; ++round) {
      parts[self] = round;
      const int result = pthread_barrier_wait(&barrier);
      assert(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
      if (result != 0) ++serial[self];
      for (const int part : parts) assert(part == round);
      pthread_barrier_wait(&barrier);
    }
  };
  std::thread one(work, 1);
  std::thread two(work, 2);
  work(0);
  one.join();
  two.join();
  assert(serial[0] + serial[1] + serial[2] == 2);
  assert(pthread_barrier_destroy(&barrier) == 0);
}

WEFT_SCENARIO(barrier_short, {.name = "facilities/barrier_short.buggy",
                              .summary = "a barrier for more than there are",
                              .expect = weft::must_find("deadlock"),
                              .budget = 10}) {
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, 3);
  std::thread other([&] { pthread_barrier_wait(&barrier); });
  pthread_barrier_wait(&barrier);
  other.join();
}

}  // namespace
