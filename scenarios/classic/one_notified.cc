// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A configuration is announced by an atomic, and two workers wait for it.
// notify_one() wakes one of them; the other sleeps for ever, if it sleeps already:
// whoever comes later sees the value and does not wait.

#include <atomic>
#include <thread>

#include <weft/scenario.h>

namespace {

template <typename Notify>
void announce(Notify notify) {
  std::atomic<int> version = 0;
  const auto work = [&] { version.wait(0); };
  std::thread first(work);
  std::thread second(work);
  version = 1;
  notify(version);
  first.join();
  second.join();
}

WEFT_SCENARIO(one_notified_buggy, {.name = "classic/one_notified.buggy",
                                   .summary = "two wait for an atomic, and one is notified",
                                   .expect = weft::must_find("deadlock"),
                                   .budget = 500}) {
  announce([](std::atomic<int>& version) { version.notify_one(); });
}

WEFT_SCENARIO(one_notified_fixed, {.name = "classic/one_notified.fixed",
                                   .summary = "all who wait are notified",
                                   .expect = weft::must_pass(),
                                   .budget = 500}) {
  announce([](std::atomic<int>& version) { version.notify_all(); });
}

}  // namespace
