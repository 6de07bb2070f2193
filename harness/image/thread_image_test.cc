// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: a thread that is used again finds its thread_locals as a new thread does.
// Method: one thread changes every kind of thread_local, resets itself, and looks again; and two
// threads at once, of which one is reset.

#include "harness/image/thread_image.h"

#include <gtest/gtest.h>

#include <barrier>
#include <cerrno>
#include <string>
#include <thread>

#include "harness/base/mapped_object.h"

namespace weft::image {
namespace {

thread_local int initialised = 42;                   // .tdata
thread_local int zeroed[16];                         // .tbss
thread_local const int* pointer = &initialised + 0;  // needs construction: thread-dependent
thread_local int kept[4];

int constructed = 0;
struct Counted {
  Counted() { ++constructed; }
  int value = 7;
};
thread_local Counted object;

class ThreadImageTest : public testing::Test {
 protected:
  ThreadImageTest() { image_->capture(); }

  MappedObject<ThreadImage> image_ = make_mapped<ThreadImage>();
};

TEST_F(ThreadImageTest, AReusedThreadFindsInitialValues) {
  std::thread([this] {
    for (int task = 0; task < 3; ++task) {
      EXPECT_EQ(initialised, 42);
      EXPECT_EQ(zeroed[15], 0);
      initialised = 1;
      zeroed[15] = 2;
      image_->reset_calling_thread();
    }
    EXPECT_EQ(initialised, 42);
  }).join();
}

TEST_F(ThreadImageTest, ObjectsAreConstructedAgain) {
  constructed = 0;
  std::thread([this] {
    for (int task = 1; task <= 3; ++task) {
      EXPECT_EQ(object.value, 7);
      object.value = 8;
      EXPECT_EQ(constructed, task);
      EXPECT_EQ(pointer, &initialised);
      image_->reset_calling_thread();
    }
  }).join();
}

TEST_F(ThreadImageTest, OtherThreadsAndLibcAreLeftAlone) {
  std::barrier<> sync(2);
  std::thread other([&] {
    initialised = 5;
    sync.arrive_and_wait();
    sync.arrive_and_wait();
    EXPECT_EQ(initialised, 5);
  });
  std::thread reset([&] {
    initialised = 6;
    errno = EAGAIN;
    sync.arrive_and_wait();
    image_->reset_calling_thread();
    EXPECT_EQ(errno, EAGAIN);
    EXPECT_EQ(initialised, 42);
    sync.arrive_and_wait();
  });
  other.join();
  reset.join();
}

TEST_F(ThreadImageTest, ExcludedVariablesKeepTheirValuesInEveryThread) {
  const std::size_t before = image_->covered_bytes();
  int local = 0;
  image_->exclude(&local, sizeof local);
  EXPECT_EQ(image_->covered_bytes(), before) << "not in any block";
  image_->exclude(&kept[1], 2 * sizeof(int));
  EXPECT_EQ(image_->covered_bytes(), before - 2 * sizeof(int));
  std::thread([this] {
    for (int& word : kept) word = 9;
    initialised = 1;
    image_->reset_calling_thread();
    EXPECT_EQ(kept[0], 0);
    EXPECT_EQ(kept[1], 9);
    EXPECT_EQ(kept[2], 9);
    EXPECT_EQ(kept[3], 0);
    EXPECT_EQ(initialised, 42);
  }).join();
}

TEST_F(ThreadImageTest, ExceptionsWorkAfterAReset) {
  // libstdc++ keeps the caught exceptions of a thread in a thread_local.
  std::thread([this] {
    for (int task = 0; task < 2; ++task) {
      try {
        throw std::string("thrown");
      } catch (const std::string& caught) {
        EXPECT_EQ(caught, "thrown");
      }
      image_->reset_calling_thread();
      EXPECT_EQ(std::uncaught_exceptions(), 0);
    }
  }).join();
}

}  // namespace
}  // namespace weft::image
