// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Two threads lock the same two mutexes by std::scoped_lock, in opposite orders.
// Each backs off when it finds the second one taken: in step with each other they would do so
// for ever, which no real machine does, and no schedule may.

#include <cassert>
#include <mutex>
#include <thread>

#include <weft/scenario.h>

namespace {

WEFT_SCENARIO(back_off, {.name = "facilities/back_off",
                         .summary = "two threads that back off from each other get through",
                         .expect = weft::must_pass(),
                         .budget = 500}) {
  std::mutex left;
  std::mutex right;
  int sections = 0;
  std::thread one([&] {
    const std::scoped_lock lock(left, right);
    ++sections;
  });
  std::thread other([&] {
    const std::scoped_lock lock(right, left);
    ++sections;
  });
  one.join();
  other.join();
  assert(sections == 2);
}

}  // namespace
