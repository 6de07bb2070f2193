// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: what is registered runs once for each time it was registered, in order with thread_local
// destructors, and also when registered by what runs after those.

#include "lib/base/thread_exit.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <string>
#include <thread>

// Null where AddressSanitizer, and LeakSanitizer with it, is not linked.
extern "C" __attribute__((weak)) void __asan_init();

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

TEST(ThreadExit, MayBeRegisteredByAKeyDestructor) {
  pthread_key_t key;
  ASSERT_EQ(pthread_key_create(&key, &register_in_key_destructor), 0);
  g_order.clear();
  std::thread([&] {
    at_thread_exit(&note_release);
    pthread_setspecific(key, &key);
  }).join();
  EXPECT_EQ(g_order, "rkr");
  // The thread's first use of all: LeakSanitizer would find glibc's record, see thread_exit.h.
  if (__asan_init == nullptr) {
    g_order.clear();
    std::thread([&] { pthread_setspecific(key, &key); }).join();
    EXPECT_EQ(g_order, "kr");
  }
  pthread_key_delete(key);
}

}  // namespace
}  // namespace weftrt::detail
