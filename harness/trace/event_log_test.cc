// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: every event of a recorded execution is read back with the value that its operation yielded
// in the end, from memory and from disk; what a full disk does not take is counted. Method: small
// blocks, values that come at once, late, and very late.

#include "harness/trace/event_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>

namespace weft::trace {
namespace {

class EventLogTest : public ::testing::Test {
 protected:
  const std::unique_ptr<EventLog> log_ = std::make_unique<EventLog>();
  SpillFile file_;
};

TEST_F(EventLogTest, EventsAreReadBackWithTheirValues) {
  for (const std::size_t block : {1u, 3u, 64u, 16'384u}) {
    for (const std::uint64_t count : {0u, 1u, 127u, 128u, 129u, 10'000u, 40'000u}) {
      log_->open(file_.empty(), block);
      for (std::uint64_t i = 0; i < count; ++i) {
        ASSERT_TRUE(log_->add({.step = i + 1}));
        log_->set_value(i, i * 3);
      }
      // As an operation does that waited all along.
      for (const std::uint64_t late : {std::uint64_t{0}, count / 2}) {
        if (late < count) log_->set_value(late, 77);
      }
      EventReader in(*log_);
      Event event;
      std::uint64_t read = 0;
      for (; in.next(event); ++read) {
        ASSERT_EQ(event.step, read + 1);
        ASSERT_EQ(event.value, read == 0 || read == count / 2 ? 77 : read * 3);
      }
      EXPECT_EQ(read, count);
      EXPECT_EQ(log_->count(), count);
      EXPECT_EQ(log_->dropped(), 0u);
    }
  }
}

TEST_F(EventLogTest, WhatTheDiskDoesNotTakeIsCounted) {
  const int full = ::open("/dev/full", O_RDWR | O_CLOEXEC);
  ASSERT_GE(full, 0);
  for (const SpillPlace place : {SpillPlace{}, SpillPlace{full, ~std::uint64_t{0} >> 1}}) {
    log_->open(place, 10);
    for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(log_->add({.step = i + 1}), i < 20);
    EXPECT_EQ(log_->count(), 20u);
    EXPECT_EQ(log_->dropped(), 80u);
    EventReader in(*log_);
    Event event;
    std::uint64_t read = 0;
    while (in.next(event)) ++read;
    EXPECT_EQ(read, 20u);
  }
  ::close(full);
}

TEST_F(EventLogTest, AFileThatWasCutEndsTheEvents) {
  const SpillPlace place = file_.empty();
  log_->open(place, 10);
  for (std::uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(log_->add({.step = i + 1}));
  ASSERT_EQ(::ftruncate(place.descriptor, 0), 0);
  EventReader in(*log_);
  Event event;
  EXPECT_FALSE(in.next(event));
}

}  // namespace
}  // namespace weft::trace
