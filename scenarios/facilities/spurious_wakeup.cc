// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Condition variables may wake for no reason: POSIX and the standard say so, and the
// option spurious_wakeups does it.

#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <weft/scenario.h>

namespace {

template <typename Wait>
void hand_over(Wait wait) {
  std::mutex mutex;
  std::condition_variable changed;
  bool ready = false;
  std::thread waiter([&] {
    std::unique_lock lock(mutex);
    if (!ready) wait(changed, lock, ready);
    assert(ready);
  });
  {
    const std::lock_guard lock(mutex);
    ready = true;
  }
  changed.notify_one();
  waiter.join();
}

const auto wait_once = [](std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
                          bool&) { changed.wait(lock); };
const auto wait_until_ready = [](std::condition_variable& changed,
                                 std::unique_lock<std::mutex>& lock,
                                 bool& ready) { changed.wait(lock, [&] { return ready; }); };

WEFT_SCENARIO(spurious_buggy, {.name = "facilities/spurious_wakeup.buggy",
                               .summary = "a wait that takes every wake-up for its own",
                               .expect = weft::must_find("assertion"),
                               .budget = 1000,
                               .spurious_wakeups = 1}) {
  hand_over(wait_once);
}

WEFT_SCENARIO(spurious_off, {.name = "facilities/spurious_wakeup.off",
                             .summary = "without the option no wait ends for no reason",
                             .expect = weft::must_pass(),
                             .budget = 300}) {
  hand_over(wait_once);
}

WEFT_SCENARIO(spurious_fixed, {.name = "facilities/spurious_wakeup.fixed",
                               .summary = "a wait that looks again",
                               .expect = weft::must_pass(),
                               .budget = 300,
                               .spurious_wakeups = 2}) {
  hand_over(wait_until_ready);
}

}  // namespace
