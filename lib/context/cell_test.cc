// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: split reference counting deletes each node exactly when its last reference goes.
// Method: live_nodes() before and after each step of a history of one thread; then several threads
// that take, hold and give back while others replace, with the count exact at the end. Early
// deletion shows under AddressSanitizer, a missing order under ThreadSanitizer.

#include "lib/context/cell.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace weftrt::detail {
namespace {

ContextImpl with_seed(std::uint64_t seed) {
  ContextImpl impl;
  impl.seed_all(seed);
  return impl;
}

TEST(ContextCell, ANodeLivesAsLongAsItsLastReference) {
  const std::size_t before = live_nodes();
  {
    ContextCell cell(with_seed(1));
    EXPECT_EQ(live_nodes(), before + 1);
    ContextNode& first = cell.acquire();
    ContextNode& again = cell.acquire();
    EXPECT_EQ(&first, &again);

    EXPECT_EQ(cell.swap(with_seed(2)).seed(), 1U);
    EXPECT_EQ(live_nodes(), before + 2);
    first.release();
    EXPECT_EQ(live_nodes(), before + 2);
    EXPECT_EQ(again.impl.seed(), 1U);
    again.release();
    EXPECT_EQ(live_nodes(), before + 1);
  }
  EXPECT_EQ(live_nodes(), before);
}

TEST(ContextCell, AReplacedNodeThatNobodyHoldsGoesAtOnce) {
  const std::size_t before = live_nodes();
  ContextCell cell(with_seed(0));
  for (std::uint64_t i = 1; i <= 10; ++i) {
    EXPECT_EQ(cell.update([&](ContextImpl& impl) { impl.seed_all(i); }), i);
    EXPECT_EQ(live_nodes(), before + 1);
  }
}

TEST(ContextCell, ANodeOutlivesItsCellWhileHeld) {
  const std::size_t before = live_nodes();
  ContextNode* held = nullptr;
  {
    ContextCell cell(with_seed(5));
    held = &cell.acquire();
  }
  EXPECT_EQ(live_nodes(), before + 1);
  EXPECT_EQ(held->impl.seed(), 5U);
  held->release();
  EXPECT_EQ(live_nodes(), before);
}

// More references than the word's counter holds, so that it is moved into the node many times.
TEST(ContextCell, HandsOutMoreReferencesThanTheWordCounts) {
  constexpr int kReferences = 5000;
  const std::size_t before = live_nodes();
  ContextCell cell(with_seed(1));
  std::vector<ContextNode*> held;
  for (int i = 0; i < kReferences; ++i) held.push_back(&cell.acquire());
  (void)cell.swap(with_seed(2));
  EXPECT_EQ(live_nodes(), before + 2);
  for (int i = 0; i < kReferences - 1; ++i) held[static_cast<std::size_t>(i)]->release();
  EXPECT_EQ(live_nodes(), before + 2);
  held.back()->release();
  EXPECT_EQ(live_nodes(), before + 1);
}

TEST(ContextCell, AnEditThatThrowsPublishesNothing) {
  const std::size_t before = live_nodes();
  ContextCell cell(with_seed(1));
  EXPECT_THROW(cell.update([](ContextImpl& impl) {
    impl.seed_all(2);
    throw std::runtime_error("no");
  }),
               std::runtime_error);
  EXPECT_EQ(live_nodes(), before + 1);
  const NodeReference node(cell.acquire());
  EXPECT_EQ(node->impl.seed(), 1U);
  EXPECT_EQ(node->generation, 0U);
}

TEST(ContextCell, AnEditStartsAgainFromWhatAnotherPublishedMeanwhile) {
  ContextCell cell(with_seed(1));
  int runs = 0;
  const std::uint64_t generation = cell.update([&](ContextImpl& impl) {
    if (++runs == 1) std::thread([&] { (void)cell.swap(with_seed(100)); }).join();
    impl.seed_all(impl.seed() + 1);
  });
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(generation, 2U);
  const NodeReference node(cell.acquire());
  EXPECT_EQ(node->impl.seed(), 101U);
}

// A fixed bug: the edit started again, and again, for ever.
TEST(ContextCell, AChangeWithinAnEditOfTheSameCellIsRefused) {
  const std::size_t before = live_nodes();
  ContextCell cell(with_seed(1));
  const auto refused = [&](const auto& change) {
    int runs = 0;
    try {
      cell.update([&](ContextImpl& impl) {
        ++runs;
        impl.seed_all(2);
        change();
      });
      ADD_FAILURE() << "not refused";
    } catch (const std::logic_error& error) {
      EXPECT_NE(std::string(error.what()).find("changed within an edit of it"), std::string::npos);
    }
    EXPECT_EQ(runs, 1);
  };
  refused([&] { cell.update([](ContextImpl&) { ADD_FAILURE() << "the inner edit ran"; }); });
  refused([&] { (void)cell.swap(with_seed(3)); });
  ContextCell other(with_seed(10));
  refused([&] { other.update([&](ContextImpl&) { cell.update([](ContextImpl&) {}); }); });

  const NodeReference node(cell.acquire());
  EXPECT_EQ(node->impl.seed(), 1U);
  EXPECT_EQ(node->generation, 0U);
  EXPECT_EQ(live_nodes(), before + 2);
}

TEST(ContextCell, AnEditThatGetsOverARefusalIsPublished) {
  ContextCell cell(with_seed(1));
  cell.update([&](ContextImpl& impl) {
    EXPECT_THROW((void)cell.swap(with_seed(3)), std::logic_error);
    EXPECT_THROW(cell.update([](ContextImpl&) {}), std::logic_error);
    impl.seed_all(2);
  });
  EXPECT_EQ(cell.swap(with_seed(4)).seed(), 2U) << "after an edit, a change is a change again";
  EXPECT_THROW(cell.update([](ContextImpl&) { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_EQ(cell.swap(with_seed(5)).seed(), 4U) << "after one that threw, too";
}

TEST(ContextCell, AnotherCellMayBeChangedWithinAnEdit) {
  ContextCell outer(with_seed(1));
  ContextCell inner(with_seed(10));
  int runs = 0;
  outer.update([&](ContextImpl& impl) {
    ++runs;
    inner.update([](ContextImpl& other) { other.seed_all(11); });
    impl.seed_all(inner.swap(with_seed(12)).seed());
  });
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(outer.swap(with_seed(2)).seed(), 11U);
  EXPECT_EQ(inner.swap(with_seed(2)).seed(), 12U);
}

// Each writer adds its share, so a lost update shows in the sum; each reader checks that two fields
// written together stay together, and holds up to eight nodes at a time.
TEST(ContextCell, ReadersAndWritersTogether) {
  constexpr std::uint64_t kUpdates = 5000;
  constexpr int kReads = 20000;
  static constexpr PropertyKey<std::int64_t> kCopy{"copy"};
  const std::size_t before = live_nodes();
  {
    ContextImpl initial = with_seed(0);
    initial.properties.set(kCopy, std::int64_t{0});
    ContextCell cell(initial);
    std::vector<std::thread> threads;
    for (int writer = 0; writer < 2; ++writer) {
      threads.emplace_back([&] {
        for (std::uint64_t i = 0; i < kUpdates; ++i) {
          cell.update([](ContextImpl& impl) {
            impl.seed_all(impl.seed() + 1);
            impl.properties.set(kCopy, static_cast<std::int64_t>(impl.seed()));
          });
        }
      });
    }
    for (int reader = 0; reader < 2; ++reader) {
      threads.emplace_back([&] {
        std::vector<ContextNode*> held(8, nullptr);
        std::uint64_t last = 0;
        for (int i = 0; i < kReads; ++i) {
          ContextNode*& place = held[static_cast<std::size_t>(i) % held.size()];
          if (place != nullptr) place->release();
          place = &cell.acquire();
          EXPECT_EQ(static_cast<std::uint64_t>(*place->impl.properties.find(kCopy)),
                    place->impl.seed());
          EXPECT_GE(place->impl.seed(), last);
          last = place->impl.seed();
        }
        for (ContextNode* node : held) node->release();
      });
    }
    for (std::thread& thread : threads) thread.join();
    const NodeReference last(cell.acquire());
    EXPECT_EQ(last->impl.seed(), 2 * kUpdates);
    EXPECT_EQ(last->generation, 2 * kUpdates);
    EXPECT_EQ(live_nodes(), before + 1);
  }
  EXPECT_EQ(live_nodes(), before);
}

// Many threads take while the word's counter is being moved.
TEST(ContextCell, ManyThreadsCrossTheCounterLimitTogether) {
  constexpr int kThreads = 4;
  constexpr int kReferences = 3000;
  const std::size_t before = live_nodes();
  ContextCell cell(with_seed(1));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      std::vector<ContextNode*> held;
      for (int i = 0; i < kReferences; ++i) held.push_back(&cell.acquire());
      for (ContextNode* node : held) {
        EXPECT_LE(node->impl.seed(), 2U);
        node->release();
      }
    });
  }
  (void)cell.swap(with_seed(2));
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(live_nodes(), before + 1);
}

}  // namespace
}  // namespace weftrt::detail
