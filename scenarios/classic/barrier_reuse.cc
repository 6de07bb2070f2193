// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Two threads step through a simulation, with a hand-written barrier after each
// step. The buggy one waits until the count is back at zero: a fast thread that
// arrives at the next step raises it again before the slow one has looked.

#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <weft/scenario.h>

namespace {

class CountingBarrier {
 public:
  explicit CountingBarrier(int parties) : parties_(parties) {}
  void arrive_and_wait() {
    std::unique_lock lock(mutex_);
    if (++arrived_ == parties_) {
      arrived_ = 0;
      all_here_.notify_all();
    } else {
      all_here_.wait(lock, [this] { return arrived_ == 0; });
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_here_;
  const int parties_;
  int arrived_ = 0;
};

class GenerationBarrier {
 public:
  explicit GenerationBarrier(int parties) : parties_(parties) {}
  void arrive_and_wait() {
    std::unique_lock lock(mutex_);
    if (++arrived_ == parties_) {
      arrived_ = 0;
      ++generation_;
      all_here_.notify_all();
    } else {
      const int mine = generation_;
      all_here_.wait(lock, [this, mine] { return generation_ != mine; });
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_here_;
  const int parties_;
  int arrived_ = 0;
  int generation_ = 0;
};

template <typename Barrier>
void simulate() {
  Barrier barrier(2);
  int cells[2] = {};
  const auto steps = [&](int mine, int other) {
    for (int step = 1; step <= 2; ++step) {
      cells[mine] = step;
      barrier.arrive_and_wait();
      assert(cells[other] == step);
      barrier.arrive_and_wait();
    }
  };
  std::thread neighbour(steps, 1, 0);
  steps(0, 1);
  neighbour.join();
}

WEFT_SCENARIO(barrier_reuse_buggy, {.name = "classic/barrier_reuse.buggy",
                                    .summary = "a barrier is entered again before all have left",
                                    .expect = weft::must_find("deadlock"),
                                    .budget = 500}) {
  simulate<CountingBarrier>();
}

WEFT_SCENARIO(barrier_reuse_fixed, {.name = "classic/barrier_reuse.fixed",
                                    .summary = "each use of the barrier has its own generation",
                                    .expect = weft::must_pass(),
                                    .budget = 500}) {
  simulate<GenerationBarrier>();
}

}  // namespace
