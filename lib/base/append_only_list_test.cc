// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: records stay, are found, and of several that are added at once under a name one remains.

#include "lib/base/append_only_list.h"

#include <gtest/gtest.h>

#include <barrier>
#include <thread>
#include <vector>

namespace weftrt::detail {
namespace {

struct Named {
  int name;
  int index;
  const Named* next = nullptr;
};

const Named& define(AppendOnlyList<Named>& list, int name) {
  return list.find_or_add(
      [&](const Named& known) { return known.name == name; },
      [&](const Named* older) {
        return std::make_unique<Named>(Named{name, older == nullptr ? 0 : older->index + 1});
      });
}

void destroy_all(const AppendOnlyList<Named>& list) {
  for (const Named* record = list.newest(); record != nullptr;) {
    const Named* const gone = record;
    record = record->next;
    delete gone;
  }
}

TEST(AppendOnlyList, FindsWhatWasAdded) {
  AppendOnlyList<Named> list;
  EXPECT_EQ(list.newest(), nullptr);
  const Named& first = define(list, 10);
  const Named& second = define(list, 20);
  EXPECT_EQ(&define(list, 10), &first);
  EXPECT_EQ(&define(list, 20), &second);
  EXPECT_EQ(first.index, 0);
  EXPECT_EQ(second.index, 1);
  EXPECT_EQ(list.newest(), &second);
  destroy_all(list);
}

TEST(AppendOnlyList, RacingAddersAgreeAndCountOn) {
  constexpr int kThreads = 3;
  constexpr int kNames = 200;
  AppendOnlyList<Named> list;
  std::barrier start(kThreads);
  std::vector<std::vector<const Named*>> got(kThreads);
  std::vector<std::thread> threads;
  for (auto& mine : got) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      for (int name = 0; name < kNames; ++name) mine.push_back(&define(list, name));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& others : got) EXPECT_EQ(others, got[0]);
  int expected = kNames;
  for (const Named* record = list.newest(); record != nullptr; record = record->next)
    EXPECT_EQ(record->index, --expected) << "indices are dense, oldest first";
  EXPECT_EQ(expected, 0);
  destroy_all(list);
}

}  // namespace
}  // namespace weftrt::detail
