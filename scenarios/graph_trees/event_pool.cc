// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// docs/cases.md 6: each thread keeps an event of a shared pool, and gives it back when it ends. The
// buggy events point to the pool, whose owner believes that they have all been given back once the
// work is done.

#include <atomic>
#include <bit>
#include <latch>
#include <memory>
#include <thread>
#include <utility>

#include <weft/scenario.h>

#include "scenarios/kinds.h"

namespace {

/// A bit for each event that nobody has.
class EventPool {
 public:
  int take() {
    // relaxed: a guess. acquire: pairs with the release in give_back(): the event is at rest.
    unsigned free = free_.load(std::memory_order_relaxed);
    while (!free_.compare_exchange_weak(free, free & (free - 1), std::memory_order_acquire,
                                        std::memory_order_relaxed)) {
    }
    return std::countr_zero(free);
  }
  void give_back(int event) { free_.fetch_or(1U << event, std::memory_order_release); }

 private:
  std::atomic<unsigned> free_{~0U};
};

/// A thread's event; `Reference` is how it knows its pool.
template <class Reference>
class ThreadEvent {
 public:
  void take_from(Reference pool) {
    event_ = pool->take();
    pool_ = std::move(pool);
  }
  ~ThreadEvent() {
    if (pool_ != nullptr) pool_->give_back(event_);
  }

 private:
  Reference pool_ = nullptr;
  int event_ = -1;
};
thread_local ThreadEvent<EventPool*> pointing_event;
thread_local ThreadEvent<std::shared_ptr<EventPool>> sharing_event;

WEFT_SCENARIO(event_pool_buggy, {.name = "graph_trees/event_pool.buggy",
                                 .summary = "a thread ends after the pool that its event is of",
                                 .expect = weft::must_find(kUseAfterFree, "data_race"),
                                 .budget = 500}) {
  auto pool = std::make_unique<EventPool>();
  std::latch worked(1);
  std::thread worker([&worked, pool = pool.get()] {
    pointing_event.take_from(pool);
    worked.count_down();
  });
  worked.wait();
  pool.reset();
  worker.join();
}

WEFT_SCENARIO(event_pool_fixed, {.name = "graph_trees/event_pool.fixed",
                                 .summary = "a pool lives as long as its last event",
                                 .expect = weft::must_pass(),
                                 .budget = 500}) {
  auto pool = std::make_shared<EventPool>();
  std::latch worked(1);
  std::thread worker([&worked, pool] {
    sharing_event.take_from(pool);
    worked.count_down();
  });
  worked.wait();
  pool.reset();
  worker.join();
}

}  // namespace
