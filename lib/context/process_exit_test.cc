// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: what context.h and stash.h say about process exit: detached threads and static destructors
// may read to the end, and everything but the global context's last implementation is destroyed.
// Method: each case exits in a child process.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>

#include "lib/context/context.h"
#include "lib/context/override.h"
#include "lib/stash/stash.h"
#include "lib/threads/pool.h"

namespace weftrt {
namespace {

std::atomic<int> g_objects{0};

struct Counted {
  Counted() { ++g_objects; }
  ~Counted() { --g_objects; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
};
const StashKey<Counted> kObject("process_exit_test.object", StashRule::kReplace,
                                [] { return std::make_shared<Counted>(); });

void set_seed(std::uint64_t seed) {
  update_global([seed](ContextImpl& impl) { impl.seed_all(seed); });
}

// An exit handler, hence after the main thread's thread_locals are gone.
void exit_by_what_is_left() {
  const bool only_the_global_one_is_left = live_implementations() == 1 && g_objects == 0;
  std::_Exit(only_the_global_one_is_left && current().seed() == 9 ? 0 : 1);
}

void use_everything_and_exit() {
  std::atexit(&exit_by_what_is_left);
  (void)stash::get_or_init(kObject);
  (void)current();
  set_seed(8);
  {
    ManagedPool pool(2);
    const ContextOverride mine{ContextImpl{}};
    pool.parallel_for(0, 20, [](std::size_t) {
      (void)current();
      (void)stash::get_or_init(kObject);
    });
    std::thread([] { (void)stash::get_or_init(kObject); }).join();
  }
  set_seed(9);  // the main thread still holds an older one
  std::exit(1);
}

TEST(ProcessExitDeathTest, EverythingElseIsDestroyed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(use_everything_and_exit(), ::testing::ExitedWithCode(0), "");
}

std::atomic<bool> g_reading{false};

void leave_a_reader_behind_and_exit() {
  for (int i = 0; i < 2; ++i) {
    std::thread([] {
      (void)stash::get_or_init(kObject);
      for (;;) {
        const ContextPin pinned = pin();
        const ContextImpl& now = current();
        // Written together, so equal in what is whole.
        if (now.seed(DeviceKind::kCpu) != now.seed(DeviceKind::kCuda)) std::_Exit(1);
        if (pinned->seed(DeviceKind::kCpu) != pinned->seed(DeviceKind::kCuda)) std::_Exit(1);
        g_reading = true;
      }
    }).detach();
  }
  while (!g_reading) std::this_thread::yield();
  // Changes while it exits, and reads in an exit handler.
  std::atexit([] {
    for (std::uint64_t i = 0; i < 200; ++i) {
      set_seed(i);
      if (current().seed() != i) std::_Exit(2);
    }
  });
  std::exit(0);
}

TEST(ProcessExitDeathTest, DetachedThreadsMayReadToTheEnd) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (int round = 0; round < 3; ++round)
    EXPECT_EXIT(leave_a_reader_behind_and_exit(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace weftrt
