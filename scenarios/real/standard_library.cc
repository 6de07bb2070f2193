// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What libstdc++ builds on atomics and the futex by itself, in its headers.

#include <atomic>
#include <barrier>
#include <cassert>
#include <latch>
#include <memory>
#include <semaphore>
#include <stop_token>
#include <thread>

#include <weft/scenario.h>

namespace {

WEFT_SCENARIO(std_semaphore_fixed, {.name = "real/std_semaphore.fixed",
                                    .summary = "two semaphores hand one slot back and forth",
                                    .expect = weft::must_pass(),
                                    .budget = 500}) {
  std::binary_semaphore full(0);
  std::binary_semaphore empty(1);
  int slot = 0;
  std::thread sender([&] {
    for (int parcel = 1; parcel <= 3; ++parcel) {
      empty.acquire();
      slot = parcel;
      full.release();
    }
  });
  for (int expected = 1; expected <= 3; ++expected) {
    full.acquire();
    assert(slot == expected);
    empty.release();
  }
  sender.join();
}

#if _GLIBCXX_RELEASE < 13
/// A defect of libstdc++'s (GCC bug 104928): acquire() reads the count, loses it to
/// another, and sleeps for as long as the count is what it read, where it ought to
/// for as long as the count is zero. A release makes it that again, and wakes
/// nobody: the wake came before the sleep.
/// acquire() yields four times before it sleeps; so does who has the permit.
WEFT_SCENARIO(std_semaphore_buggy, {.name = "real/std_semaphore.buggy",
                                    .summary = "acquire() sleeps although there is a permit",
                                    .expect = weft::must_find("deadlock"),
                                    .budget = 500}) {
  std::binary_semaphore permit(1);
  const auto use = [&] {
    permit.acquire();
    for (int turn = 0; turn < 4; ++turn) std::this_thread::yield();
    permit.release();
  };
  std::thread other(use);
  use();
  other.join();
}
#endif

WEFT_SCENARIO(std_latch, {.name = "real/std_latch.fixed",
                          .summary = "what comes before count_down is seen after wait",
                          .expect = weft::must_pass(),
                          .budget = 500}) {
  std::latch ready(2);
  int parts[2] = {};
  std::thread first([&] {
    parts[0] = 1;
    ready.count_down();
  });
  std::thread second([&] {
    parts[1] = 1;
    ready.arrive_and_wait();
    assert(parts[0] == 1);
  });
  ready.wait();
  assert(parts[0] + parts[1] == 2);
  first.join();
  second.join();
}

WEFT_SCENARIO(std_barrier, {.name = "real/std_barrier.fixed",
                            .summary = "three phases, each with its completion",
                            .expect = weft::must_pass(),
                            .budget = 500}) {
  int completed = 0;
  int cells[2] = {};
  std::barrier step(2, [&completed]() noexcept { ++completed; });
  const auto run = [&](int mine, int other) {
    for (int phase = 1; phase <= 3; ++phase) {
      cells[mine] = phase;
      step.arrive_and_wait();
      assert(cells[other] == phase && completed == 2 * phase - 1);
      step.arrive_and_wait();
    }
  };
  std::thread neighbour(run, 1, 0);
  run(0, 1);
  neighbour.join();
}

WEFT_SCENARIO(std_atomic_shared_ptr, {.name = "real/std_atomic_shared_ptr.fixed",
                                      .summary = "a configuration replaced under its readers",
                                      .expect = weft::must_pass(),
                                      .budget = 500}) {
  struct Config {
    int width;
    int height;
  };
  std::atomic<std::shared_ptr<const Config>> current(std::make_shared<const Config>(1, 1));
  const auto read = [&] {
    const std::shared_ptr<const Config> config = current.load();
    assert(config->width == config->height);
  };
  std::thread writer([&] { current.store(std::make_shared<const Config>(2, 2)); });
  std::thread reader([&] {
    read();
    std::shared_ptr<const Config> old = current.load();
    current.compare_exchange_strong(old, std::make_shared<const Config>(3, 3));
  });
  read();
  read();
  writer.join();
  reader.join();
}

WEFT_SCENARIO(std_stop_token, {.name = "real/std_stop_token.fixed",
                               .summary = "callbacks that register, run and go at the same time",
                               .expect = weft::must_pass(),
                               .budget = 500}) {
  std::stop_source source;
  std::atomic<int> called{0};
  int given_up = 0;
  std::thread worker([&, token = source.get_token()] {
    // The destructor waits for a callback that is running.
    const std::stop_callback give_up(token, [&] {
      ++given_up;
      ++called;
    });
  });
  const std::stop_callback note(source.get_token(), [&] { ++called; });
  const bool first = source.request_stop();
  const bool again = source.request_stop();
  assert(first && !again);
  worker.join();
  assert(called == 1 + given_up);
}

}  // namespace
