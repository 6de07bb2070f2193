// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: a change tells those who follow its cell, and nobody else; records pass from thread to
// thread.

#include "lib/context/readers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "lib/context/context.h"
#include "lib/context/override.h"

namespace weftrt::detail {
namespace {

TEST(Readers, AChangeTellsThoseWhoFollowItsCell) {
  ContextCell mine{ContextImpl{}};
  const ContextCell other{ContextImpl{}};
  ReaderRecord& record = take_reader_record();
  ContextNode& node = mine.acquire();
  record.follows.store(&mine);
  record.usable.store(&node);
  tell_readers_of(other);
  EXPECT_EQ(record.usable.load(), &node);
  mine.update([](ContextImpl& impl) { impl.seed_all(1); });
  EXPECT_EQ(record.usable.load(), nullptr);
  node.release();
  give_back_reader_record(record);
}

TEST(Readers, RecordsAreUsedAgain) {
  ReaderRecord& first = take_reader_record();
  ReaderRecord& second = take_reader_record();
  EXPECT_NE(&first, &second);
  give_back_reader_record(first);
  EXPECT_EQ(&take_reader_record(), &first);
  give_back_reader_record(first);
  give_back_reader_record(second);
}

TEST(Readers, TwoThreadsNeverShareARecord) {
  constexpr int kThreads = 3;
  constexpr int kRounds = 2000;
  std::atomic<int> shared{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        ReaderRecord& record = take_reader_record();
        // Stands for its user: nobody else may have left anything there.
        if (record.follows.exchange(reinterpret_cast<const ContextCell*>(&record)) != nullptr)
          ++shared;
        give_back_reader_record(record);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shared, 0);
}

// The race that current_after_change() argues about: a thread shows what it holds while a change
// tells it. Between them, neither may lose the change. The reader goes from cell to cell as well.
TEST(Readers, NoChangeIsMissedByAThreadThatBeginsToFollow) {
  constexpr std::uint64_t kRounds = 3000;
  ContextOverride shared{ContextImpl{}};
  const CapturedContext captured = capture_context();
  std::atomic<std::uint64_t> published{0};
  std::atomic<int> stale{0};
  std::thread reader([&] {
    while (published.load() < kRounds) {
      const ContextOverride follow(captured);
      for (int i = 0; i < 3; ++i) {
        const std::uint64_t at_least = published.load();
        if (current().seed() < at_least) ++stale;
      }
    }
  });
  for (std::uint64_t i = 1; i <= kRounds; ++i) {
    shared.update([&](ContextImpl& impl) { impl.seed_all(i); });
    published.store(i);
  }
  reader.join();
  EXPECT_EQ(stale, 0);
}

}  // namespace
}  // namespace weftrt::detail
