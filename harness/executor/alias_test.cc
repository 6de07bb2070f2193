// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: the alias executor works in this very process, what it rests on is found out and not
// assumed, and code that it cannot serve is named. Method: the probe itself; threads whose control
// blocks are compared; a use of %fs that is described.

#include "harness/executor/alias_probe.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include "harness/base/system_call.h"
#include "harness/executor/identity.h"
#include "harness/executor/loaded_code.h"

namespace weft::executor {
namespace {

/// Another thread that stays until it is told to go.
class Other {
 public:
  Other()
      : thread_([this] {
          self_ = pthread_self();
          tid_ = static_cast<std::int32_t>(system_call(SYS_gettid));
          while (!leave_) std::this_thread::yield();
        }) {
    while (tid_ == 0) std::this_thread::yield();
  }
  ~Other() {
    leave_ = true;
    thread_.join();
  }
  [[nodiscard]] Identity identity() const { return identity_of(self_, tid_); }

 private:
  std::atomic<pthread_t> self_{0};
  std::atomic<std::int32_t> tid_{0};
  std::atomic<bool> leave_{false};
  std::thread thread_;
};

TEST(AliasTest, TheProbeNamesWhatDoesNotHold) {
  // This program lacks the interposer of errno. In those that have it all holds: commands_test.cc
  // asks `weft doctor`.
  EXPECT_STREQ(probe_alias(), "libc does not write errno where it is read");
}

TEST(AliasTest, TheControlBlockIsFoundOut) {
  const Other other;
  Carrier carrier;
  EXPECT_STREQ(carrier.discover(other.identity()), nullptr);
  EXPECT_EQ(carrier.own().thread, pthread_self());
  EXPECT_EQ(carrier.own().tid, ::gettid());
  EXPECT_EQ(carrier.error_number(), &errno);
}

TEST(AliasTest, ATidThatIsNowhereIsAnObjection) {
  const Other other;
  Identity wrong = other.identity();
  wrong.tid = -12345;
  Carrier carrier;
  ASSERT_NE(carrier.discover(wrong), nullptr);
  EXPECT_NE(std::string(carrier.discover(wrong)).find("number"), std::string::npos);
}

TEST(AliasTest, WhoIsTakenForAnotherIsThatOne) {
  const Other other;
  Carrier carrier;
  ASSERT_STREQ(carrier.discover(other.identity()), nullptr);
  Identity stranger = other.identity();
  carrier.change(carrier.own(), stranger);
  // By hand: the compiler knows that pthread_self() does not change.
  pthread_t taken_for = 0;
  asm volatile("movq %%fs:16, %0" : "=r"(taken_for));
  carrier.change(stranger, carrier.own());
  EXPECT_EQ(taken_for, other.identity().thread);
  EXPECT_EQ(pthread_self(), carrier.own().thread);
}

TEST(AliasTest, AnObjectionNamesTheFunctionAndTheMend) {
  DirectTls use{};
  std::snprintf(use.module, sizeof use.module, "libold.so");
  std::snprintf(use.function, sizeof use.function, "count");
  const std::string text = describe(use);
  EXPECT_NE(text.find("libold.so: count reaches thread-local storage"), std::string::npos) << text;
  EXPECT_NE(text.find("-mno-tls-direct-seg-refs"), std::string::npos) << text;
}

TEST(AliasTest, WhatWasThereIsNoObjection) {
  LoadedCode code;
  code.accept();
  EXPECT_EQ(code.objection(), nullptr);
}

}  // namespace
}  // namespace weft::executor
