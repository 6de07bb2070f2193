// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: the search accepts what is linearizable and nothing else. Method: histories of a register
// and of a queue whose verdicts are known, many of them from the papers; and small random
// histories, against a search that tries every order.

#include "scenarios/mixed/linearizability.h"

#include <gtest/gtest.h>

#include <deque>
#include <numeric>
#include <random>

namespace weft::mixed {
namespace {

struct Register {
  struct Call {
    bool write;
    int value;
  };
  int value = 0;
  bool apply(const Call& call) {
    if (call.write) value = call.value;
    return value == call.value;
  }
  [[nodiscard]] std::uint64_t state() const { return static_cast<std::uint64_t>(value); }
};
using History = std::vector<Timed<Register::Call>>;

constexpr Register::Call write(int value) { return {true, value}; }
constexpr Register::Call read(int value) { return {false, value}; }

TEST(Linearizability, NothingHappened) { EXPECT_TRUE(linearizable(Register{}, {})); }

TEST(Linearizability, OneAfterTheOther) {
  EXPECT_TRUE(linearizable(Register{}, History{{write(1), 1, 2}, {read(1), 3, 4}}));
  EXPECT_FALSE(linearizable(Register{}, History{{write(1), 1, 2}, {read(0), 3, 4}}));
  EXPECT_FALSE(linearizable(Register{}, History{{read(1), 1, 2}, {write(1), 3, 4}}));
}

TEST(Linearizability, AReadThatOverlapsAWriteMaySeeEither) {
  EXPECT_TRUE(linearizable(Register{}, History{{write(1), 1, 4}, {read(0), 2, 3}}));
  EXPECT_TRUE(linearizable(Register{}, History{{write(1), 1, 4}, {read(1), 2, 3}}));
  EXPECT_FALSE(linearizable(Register{}, History{{write(1), 1, 4}, {read(2), 2, 3}}));
}

// Regular, not atomic: the second reader goes back behind the first.
TEST(Linearizability, NewThenOldIsRefused) {
  EXPECT_FALSE(
      linearizable(Register{}, History{{write(1), 1, 8}, {read(1), 2, 3}, {read(0), 4, 5}}));
  EXPECT_TRUE(
      linearizable(Register{}, History{{write(1), 1, 8}, {read(0), 2, 3}, {read(1), 4, 5}}));
  EXPECT_TRUE(
      linearizable(Register{}, History{{write(1), 1, 8}, {read(1), 2, 5}, {read(0), 4, 6}}));
}

TEST(Linearizability, TwoReadersDisagreeOnTheOrderOfTwoWrites) {
  EXPECT_FALSE(linearizable(Register{}, History{{write(1), 1, 20},
                                                {write(2), 2, 21},
                                                {read(1), 3, 4},
                                                {read(2), 5, 6},
                                                {read(1), 7, 8}}));
}

struct Queue {
  struct Call {
    bool push;
    int value;  // 0, for a pop: it was empty
  };
  std::deque<int> items;
  bool apply(const Call& call) {
    if (call.push) {
      items.push_back(call.value);
      return true;
    }
    if (items.empty()) return call.value == 0;
    const bool same = items.front() == call.value;
    items.pop_front();
    return same;
  }
  [[nodiscard]] std::uint64_t state() const {
    return std::accumulate(
        items.begin(), items.end(), std::uint64_t{1},
        [](std::uint64_t sum, int item) { return sum * 10 + static_cast<std::uint64_t>(item); });
  }
};

// Herlihy and Wing, figure 1.
TEST(Linearizability, HistoriesOfAQueue) {
  using Of = std::vector<Timed<Queue::Call>>;
  const Queue::Call push1{true, 1}, push2{true, 2}, pop1{false, 1}, pop2{false, 2};
  EXPECT_TRUE(linearizable(Queue{}, Of{{push1, 1, 3}, {push2, 2, 5}, {pop2, 6, 8}, {pop1, 7, 9}}));
  EXPECT_FALSE(linearizable(Queue{}, Of{{push1, 1, 2}, {push2, 3, 4}, {pop2, 5, 6}}));
  EXPECT_TRUE(linearizable(Queue{}, Of{{push1, 1, 3}, {pop1, 2, 4}}));
  EXPECT_FALSE(linearizable(Queue{}, Of{{push1, 1, 5}, {push2, 2, 6}, {pop2, 3, 4}, {pop2, 7, 8}}));
}

bool by_every_order(const History& history) {
  std::vector<std::size_t> order(history.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  do {
    Register model;
    bool good = true;
    for (std::size_t i = 0; i < order.size() && good; ++i) {
      for (std::size_t j = i + 1; j < order.size(); ++j)
        good &= history[order[i]].invoked < history[order[j]].returned;
      good = good && model.apply(history[order[i]].call);
    }
    if (good) return true;
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

TEST(Linearizability, AsASearchThatTriesEveryOrder) {
  std::mt19937 random(1);
  int accepted = 0;
  constexpr int kHistories = 4000;
  for (int round = 0; round < kHistories; ++round) {
    constexpr std::size_t kCalls = 6;
    std::vector<std::uint64_t> instants(2 * kCalls);
    std::iota(instants.begin(), instants.end(), std::uint64_t{1});
    std::shuffle(instants.begin(), instants.end(), random);
    History history;
    for (std::size_t i = 0; i < kCalls; ++i) {
      const auto [from, to] = std::minmax(instants[2 * i], instants[2 * i + 1]);
      history.push_back({{random() % 3 == 0, static_cast<int>(random() % 3)}, from, to});
    }
    const bool expected = by_every_order(history);
    ASSERT_EQ(linearizable(Register{}, history), expected) << "round " << round;
    accepted += expected ? 1 : 0;
  }
  // Neither verdict is the only one that was compared.
  EXPECT_GT(accepted, kHistories / 10);
  EXPECT_LT(accepted, kHistories * 9 / 10);
}

// 12 calls that all overlap, in 12! orders: memoised, 4096 sets of them times the values.
TEST(Linearizability, ManyOverlappingCallsAreRefusedInTime) {
  History history;
  for (std::uint64_t i = 0; i < 6; ++i) {
    history.push_back({write(static_cast<int>(i % 4)), 1 + i, 1000 + i});
    history.push_back({read(static_cast<int>(i % 4)), 100 + i, 2000 + i});
  }
  EXPECT_TRUE(linearizable(Register{}, history));
  history.push_back({read(9), 99, 3000});
  EXPECT_FALSE(linearizable(Register{}, history));
}

}  // namespace
}  // namespace weft::mixed
