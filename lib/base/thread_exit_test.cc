// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: what is registered runs once for each time it was registered, in order with thread_local
// destructors, and also when registered by what runs after those.

#include "lib/base/thread_exit.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <string>
#include <thread>

namespace weftrt::detail {
namespace {

std::string g_order;  // of the one thread that a test starts

void note_release() { g_order += 'r'; }

struct Noting {
  ~Noting() { g_order += name; }
  char name = '?';
};

TEST(ThreadExit, ReleasesInReverseOrderWithThreadLocals) {
  g_order.clear();
  std::thread([] {
    static thread_local Noting before;
    before.name = 'b';
    at_thread_exit(&note_release);
    static thread_local Noting after;
    after.name = 'a';
  }).join();
  EXPECT_EQ(g_order, "arb");
}

TEST(ThreadExit, MayBeRegisteredAgainByALaterDestructor) {
  g_order.clear();
  struct RegistersAgain {
    ~RegistersAgain() {
      g_order += 'l';
      at_thread_exit(&note_release);
    }
    bool touched = false;
  };
  std::thread([] {
    static thread_local RegistersAgain late;
    late.touched = true;
    at_thread_exit(&note_release);
  }).join();
  EXPECT_EQ(g_order, "rlr");
}

void register_in_key_destructor(void* /*value*/) {
  g_order += 'k';
  at_thread_exit(&note_release);
}

// By a key that was made before the runtime made its own, or after: the order of keys is that of
// their making, and each round calls them all.
TEST(ThreadExit, MayBeRegisteredByAKeyDestructor) {
  for (int round = 0; round < 2; ++round) {
    pthread_key_t key;
    ASSERT_EQ(pthread_key_create(&key, &register_in_key_destructor), 0);
    for (const bool used_before : {false, true}) {
      g_order.clear();
      std::thread([&] {
        if (used_before) at_thread_exit(&note_release);
        pthread_setspecific(key, &key);
      }).join();
      EXPECT_EQ(g_order, used_before ? "rkr" : "kr");
    }
    pthread_key_delete(key);
  }
}

}  // namespace
}  // namespace weftrt::detail
