// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Small programs with known bugs, for tests of strategies. The first five are
// the programs of the peers' comparison, the rest separate one strategy from another.
#pragma once

#include "harness/strategies/test_simulator.h"

namespace weft::strategies::testing {

/// Spawns `programs` in order, joins them, then runs `check`.
inline Body spawn_and_join(Simulator& sim, std::vector<Program> programs,
                           void (*check)(Simulator&)) {
  std::vector<std::int64_t> tasks;
  for (Program& program : programs) tasks.push_back(co_await sim.spawn(std::move(program)));
  for (const std::int64_t task : tasks) co_await sim.join(task);
  check(sim);
}

inline Program parallel(
    std::vector<Program> programs, void (*check)(Simulator&) = [](Simulator&) {}) {
  return [programs = std::move(programs), check](Simulator& sim) {
    return spawn_and_join(sim, programs, check);
  };
}

inline void expect_two(Simulator& sim) {
  if (sim.value(0) != 2) sim.fail();
}

inline Body increment_atomic(Simulator& sim) {
  const std::int64_t value = co_await sim.load(0);
  co_await sim.store(0, value + 1);
}
inline Program lost_update() { return parallel({increment_atomic, increment_atomic}, expect_two); }

inline Body increment_plain(Simulator& sim) {
  const std::int64_t value = co_await sim.plain_read(0);
  co_await sim.plain_write(0, value + 1);
}
inline Program lost_plain_update() {
  return parallel({increment_plain, increment_plain}, expect_two);
}

inline Body increment_locked(Simulator& sim) {
  co_await sim.lock(1);
  const std::int64_t value = co_await sim.plain_read(0);
  co_await sim.plain_write(0, value + 1);
  co_await sim.unlock(1);
}
inline Program locked_update() {
  return parallel({increment_locked, increment_locked}, expect_two);
}

inline Body lock_two(Simulator& sim, int first, int second) {
  co_await sim.lock(first);
  co_await sim.lock(second);
  co_await sim.unlock(second);
  co_await sim.unlock(first);
}
inline Program abba() {
  return parallel({[](Simulator& sim) { return lock_two(sim, 1, 2); },
                   [](Simulator& sim) { return lock_two(sim, 2, 1); }});
}

inline Body lazy_init(Simulator& sim) {
  const std::int64_t ready = co_await sim.load(0);
  if (ready == 0) {
    co_await sim.lock(1);
    const std::int64_t inits = co_await sim.plain_read(2);
    co_await sim.plain_write(2, inits + 1);
    co_await sim.store(0, 42);
    co_await sim.unlock(1);
  }
}
inline Program double_init() {
  return parallel({lazy_init, lazy_init}, [](Simulator& sim) {
    if (sim.value(2) != 1) sim.fail();
  });
}

/// A bounded queue (mutex 1, not-empty 2, not-full 3, count 4) that signals only
/// on the transition from empty: with two consumers waiting, one is never woken.
inline Body produce(Simulator& sim) {
  for (int i = 0; i < 2; ++i) {
    co_await sim.lock(1);
    for (;;) {
      const std::int64_t held = co_await sim.plain_read(4);
      if (held != 2) break;
      co_await sim.wait(3, 1);
      co_await sim.load(5);  // the point at which the mutex has been reacquired
    }
    const std::int64_t count = co_await sim.plain_read(4);
    co_await sim.plain_write(4, count + 1);
    if (count == 0) co_await sim.signal(2);
    co_await sim.unlock(1);
  }
}
inline Body consume(Simulator& sim) {
  co_await sim.lock(1);
  for (;;) {
    const std::int64_t count = co_await sim.plain_read(4);
    if (count != 0) break;
    co_await sim.wait(2, 1);
  }
  const std::int64_t count = co_await sim.plain_read(4);
  co_await sim.plain_write(4, count - 1);
  co_await sim.signal(3);
  co_await sim.unlock(1);
}
inline Program lost_wakeup() { return parallel({produce, consume, consume}); }

/// `before` private steps, then one that matters, then `after` private steps.
inline Body padded_store(Simulator& sim, int before, int var, int after) {
  for (int i = 0; i < before; ++i) co_await sim.load(100 + var);
  co_await sim.store(var, 1);
  for (int i = 0; i < after; ++i) co_await sim.load(100 + var);
}

/// Spins until variable 0 is set, without a hint to the scheduler.
inline Body spin(Simulator& sim) {
  std::int64_t flag = 0;
  while (flag == 0) flag = co_await sim.load(0);
}
inline Body spin_plainly(Simulator& sim) {
  std::int64_t flag = 0;
  while (flag == 0) flag = co_await sim.plain_read(0);
}
inline Body spin_yielding(Simulator& sim) {
  for (;;) {
    const std::int64_t flag = co_await sim.load(0);
    if (flag != 0) co_return;
    co_await sim.yield();
  }
}
inline Body spin_sleeping(Simulator& sim) {
  for (;;) {
    const std::int64_t flag = co_await sim.load(0);
    if (flag != 0) co_return;
    co_await sim.sleep();
  }
}
inline Body set_flag(Simulator& sim) { co_await sim.store(0, 1); }
inline Program spinning(const Program& spinner) { return parallel({spinner, spinner, set_flag}); }

/// Enters when the other has not; both back off, yielding so many times, when both have.
inline Body after_you(Simulator& sim, int mine, int others, int yields) {
  for (;;) {
    co_await sim.store(mine, 1);
    const std::int64_t taken = co_await sim.load(others);
    if (taken == 0) break;
    co_await sim.store(mine, 0);
    for (int i = 0; i < yields; ++i) co_await sim.yield();
  }
  co_await sim.store(mine, 0);
}
inline Program backing_off(int yields) {
  return parallel({[yields](Simulator& sim) { return after_you(sim, 1, 2, yields); },
                   [yields](Simulator& sim) { return after_you(sim, 2, 1, yields); }});
}

/// The root works beside its child instead of waiting for it.
inline Body root_and_child(Simulator& sim) {
  const std::int64_t child = co_await sim.spawn(increment_plain);
  const std::int64_t value = co_await sim.plain_read(0);
  co_await sim.plain_write(0, value + 1);
  co_await sim.join(child);
  expect_two(sim);
}

/// Chooses, so that logs hold more than schedules.
inline Body choose_some(Simulator& sim) {
  const std::int64_t chosen = co_await sim.choose(5);
  const std::int64_t again = co_await sim.choose(1000);
  co_await sim.store(7, chosen * again);
}

}  // namespace weft::strategies::testing
