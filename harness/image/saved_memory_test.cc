// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: what was in the ranges comes back, guarded or not, and a guarded page that nobody writes is
// not touched. Method: memory of our own, a handler of our own for the faults.

#include "harness/image/saved_memory.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "harness/base/mapped_object.h"
#include "harness/base/signal_action.h"
#include "harness/image/system_call_trap.h"

namespace weft::image {
namespace {

SavedMemory* guarded = nullptr;
SystemCallTrap* trap = nullptr;
int faults = 0;
int calls = 0;

void on_signal(int signal, siginfo_t* info, void* context) {
  if (signal == SIGSEGV && guarded->written(reinterpret_cast<std::uintptr_t>(info->si_addr))) {
    ++faults;
    return;
  }
  if (trap != nullptr && trap->sprang(signal, *info, context)) {
    ++calls;
    guarded->lift();
    return;
  }
  ::signal(signal, SIG_DFL);
}

class SavedMemoryTest : public testing::Test {
 protected:
  SavedMemoryTest() {
    faults = calls = 0;
    guarded = &*memory_;
    sigset_t none;
    sigemptyset(&none);
    handle_signal(SIGSEGV, &on_signal, SA_NODEFER, none);
    handle_signal(SIGSYS, &on_signal, SA_NODEFER, none);
    for (std::size_t i = 0; i < kBytes; ++i) bytes()[i] = static_cast<char>(i % 101);
  }
  ~SavedMemoryTest() override {
    memory_->clear();
    ::signal(SIGSEGV, SIG_DFL);
    ::signal(SIGSYS, SIG_DFL);
  }
  [[nodiscard]] char* bytes() const { return reinterpret_cast<char*>(pages_.data()); }
  [[nodiscard]] bool as_before() const {
    for (std::size_t i = 0; i < kBytes; ++i) {
      if (bytes()[i] != static_cast<char>(i % 101)) return false;
    }
    return true;
  }
  void cover_all() {
    memory_->add(bytes(), bytes() + kBytes);
    memory_->take();
  }

  static constexpr std::size_t kPages = 8;
  static constexpr std::size_t kBytes = kPages * kPageBytes;
  Mapping pages_{kBytes};
  MappedObject<SavedMemory> memory_ = make_mapped<SavedMemory>();
};

TEST_F(SavedMemoryTest, ComesBackWithoutAGuard) {
  cover_all();
  bytes()[5] = 1;
  bytes()[kBytes - 1] = 2;
  memory_->restore();
  EXPECT_TRUE(as_before());
}

TEST_F(SavedMemoryTest, EachPageFaultsOnceAndComesBackEveryTime) {
  cover_all();
  memory_->guard();
  for (int execution = 0; execution < 3; ++execution) {
    bytes()[2 * kPageBytes + 7] = 1;
    bytes()[2 * kPageBytes + 9] = 1;
    bytes()[6 * kPageBytes] = 1;
    EXPECT_EQ(memory_->restore(), 2 * kPageBytes);
    EXPECT_TRUE(as_before());
  }
  EXPECT_EQ(faults, 2);
}

TEST_F(SavedMemoryTest, APageThatIsWrittenNoMoreIsGuardedAgain) {
  cover_all();
  memory_->guard();
  bytes()[0] = 1;
  for (std::uint64_t execution = 1; execution <= SavedMemory::kFirstReview; ++execution) {
    bytes()[3 * kPageBytes] = 1;
    const std::size_t written = memory_->restore();
    EXPECT_TRUE(as_before());
    if (execution < SavedMemory::kFirstReview) EXPECT_EQ(written, 2 * kPageBytes);
  }
  EXPECT_EQ(faults, 2);
  bytes()[3 * kPageBytes] = 1;
  EXPECT_EQ(memory_->restore(), kPageBytes) << "the other one alone";
  bytes()[1] = 1;
  EXPECT_EQ(faults, 3);
  EXPECT_EQ(memory_->restore(), 2 * kPageBytes);
  EXPECT_TRUE(as_before());
}

TEST_F(SavedMemoryTest, APageIsGuardedAgainOnlyAsAWhole) {
  memory_->add(bytes(), bytes() + kBytes);
  memory_->subtract(bytes() + 100, bytes() + 200);
  memory_->take();
  memory_->guard();
  for (std::uint64_t execution = 1; execution <= SavedMemory::kFirstReview; ++execution) {
    bytes()[300] = 1;  // behind the hole; before it, nothing changes
    memory_->restore();
  }
  EXPECT_EQ(faults, 1);
  bytes()[0] = 1;
  bytes()[300] = 1;
  EXPECT_EQ(faults, 1);
  EXPECT_EQ(memory_->restore(), kPageBytes - 100);
  EXPECT_EQ(bytes()[0], 0);
}

TEST_F(SavedMemoryTest, APartOfAPageIsGuardedAgainToo) {
  memory_->add(bytes(), bytes() + 3 * kPageBytes + 21);
  memory_->take();
  memory_->guard();
  bytes()[3 * kPageBytes + 20] = 1;
  for (std::uint64_t execution = 1; execution <= SavedMemory::kFirstReview; ++execution)
    memory_->restore();
  EXPECT_EQ(memory_->restore(), 0);
  EXPECT_TRUE(as_before());
}

TEST_F(SavedMemoryTest, WhatIsNotCoveredKeepsItsContents) {
  memory_->add(bytes(), bytes() + kBytes);
  memory_->subtract(bytes() + 100, bytes() + 200);
  memory_->take();
  memory_->guard();
  std::memset(bytes() + 90, 0x55, 120);
  memory_->restore();
  EXPECT_EQ(bytes()[99], static_cast<char>(99));
  EXPECT_EQ(bytes()[100], 0x55);
  EXPECT_EQ(bytes()[199], 0x55);
  EXPECT_EQ(bytes()[200], static_cast<char>(200 % 101));
}

TEST_F(SavedMemoryTest, LiftedItLooksEverywhere) {
  cover_all();
  memory_->guard();
  bytes()[kPageBytes] = 1;
  memory_->lift();
  bytes()[4 * kPageBytes] = 1;  // no fault tells of it
  memory_->restore();
  EXPECT_TRUE(as_before());
  memory_->guard();
  bytes()[4 * kPageBytes] = 1;
  memory_->restore();
  EXPECT_TRUE(as_before());
  EXPECT_EQ(faults, 2);
}

TEST_F(SavedMemoryTest, AFaultElsewhereIsNotItsDoing) {
  cover_all();
  memory_->guard();
  EXPECT_FALSE(memory_->written(reinterpret_cast<std::uintptr_t>(&faults)));
  EXPECT_TRUE(memory_->written(reinterpret_cast<std::uintptr_t>(bytes())));
  EXPECT_FALSE(memory_->written(reinterpret_cast<std::uintptr_t>(bytes()))) << "writable already";
}

TEST_F(SavedMemoryTest, TheKernelWritesWhereTheTrapLifted) {
  auto own = make_mapped<SystemCallTrap>();
  if (!own->prepare()) GTEST_SKIP() << "this kernel cannot trap system calls";
  trap = &*own;
  cover_all();
  memory_->guard();
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "woven", 5), 5);
  own->arm();
  const ssize_t got = ::read(ends[0], bytes() + 10, 5);
  const bool armed = own->armed();
  own->disarm();
  trap = nullptr;
  EXPECT_EQ(got, 5);
  EXPECT_EQ(std::memcmp(bytes() + 10, "woven", 5), 0);
  EXPECT_FALSE(armed) << "the first system call disarms it";
  EXPECT_EQ(calls, 1);
  memory_->restore();
  EXPECT_TRUE(as_before());
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace weft::image
