// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: invariant 6 of context.h: a reader never waits for a writer.
// Method: a signal makes the writer stand still at whatever instruction of a change it is at, and
// the reader reads meanwhile. Who waited would wait for the writer's patience to end.

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "lib/context/context.h"

namespace weftrt {
namespace {

std::atomic<bool> g_stands_still{false};
std::atomic<bool> g_may_go_on{false};

void stand_still(int /*signal*/) {
  const int error_before = errno;
  g_stands_still = true;
  constexpr timespec kNap{.tv_sec = 0, .tv_nsec = 20'000};
  for (int naps = 0; !g_may_go_on && naps < 100'000; ++naps) nanosleep(&kNap, nullptr);
  g_stands_still = false;
  errno = error_before;
}

void set_seed(std::uint64_t seed) {
  update_global([seed](ContextImpl& impl) { impl.seed_all(seed); });
}

TEST(ReaderProgress, AReadEndsWhateverAWriterIsInTheMiddleOf) {
  struct sigaction on_signal {};
  on_signal.sa_handler = &stand_still;
  struct sigaction before {};
  ASSERT_EQ(sigaction(SIGUSR1, &on_signal, &before), 0);
  std::atomic<bool> done{false};
  std::thread writer([&done] {
    for (std::uint64_t i = 1; !done; ++i) set_seed(i);
  });

  constexpr int kRounds = 300;
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    // What the reader moves on from stays alive: to free it would be to meet the writer at malloc's
    // lock.
    const ContextPin held = pin();
    while (generation() == held.generation()) std::this_thread::yield();
    g_may_go_on = false;
    ASSERT_EQ(pthread_kill(writer.native_handle(), SIGUSR1), 0);
    while (!g_stands_still) std::this_thread::yield();

    const ContextImpl& now = current();
    EXPECT_EQ(now.seed(DeviceKind::kCpu), now.seed(DeviceKind::kCuda));
    EXPECT_NE(&now, &*held) << "there was a change to see";
    EXPECT_GT(pin().generation(), held.generation());
    EXPECT_TRUE(g_stands_still) << "the read ended, but not before the writer went on";

    g_may_go_on = true;
    while (g_stands_still) std::this_thread::yield();
  }
  done = true;
  writer.join();
  ASSERT_EQ(sigaction(SIGUSR1, &before, nullptr), 0);
}

}  // namespace
}  // namespace weftrt
