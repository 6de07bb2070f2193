// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: the invariants of binding.h: which context a thread gets, by policy and by its own wish.
// Method: a new thread for each case, because a thread is bound once.

#include "lib/context/binding.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "lib/context/context.h"
#include "lib/context/override.h"
#include "lib/threads/pool.h"
#include "lib/threads/spawn.h"

namespace weftrt {
namespace {

void set_seed(std::uint64_t seed) {
  update_global([seed](ContextImpl& impl) { impl.seed_all(seed); });
}
std::uint64_t seed() { return current().seed(); }

template <class Run>
void on_a_new_thread(Run run) {
  std::thread(run).join();
}

class BindingOf : public ::testing::Test {
 protected:
  void SetUp() override {
    (void)swap_global(ContextImpl{});
    set_seed(1);
    (void)current();
    implementations_ = live_implementations();
  }
  void TearDown() override {
    set_binding_policy(BindingPolicy::kLate);
    (void)current();
    EXPECT_EQ(live_implementations(), implementations_);
  }

 private:
  std::size_t implementations_ = 0;
};

TEST_F(BindingOf, LateIsTheDefaultAndSeesEachChange) {
  EXPECT_EQ(binding_policy(), BindingPolicy::kLate);
  on_a_new_thread([] {
    EXPECT_TRUE(thread_has_context());
    EXPECT_EQ(seed(), 1U);
    set_seed(2);
    EXPECT_EQ(seed(), 2U);
  });
}

TEST_F(BindingOf, EarlyKeepsWhatTheFirstReadFound) {
  set_binding_policy(BindingPolicy::kEarly);
  on_a_new_thread([] {
    set_seed(2);
    EXPECT_EQ(seed(), 2U);
    set_seed(3);
    EXPECT_EQ(seed(), 2U);
    EXPECT_EQ(pin()->seed(), 2U);
  });
  on_a_new_thread([] { EXPECT_EQ(seed(), 3U); });
}

TEST_F(BindingOf, EarlyIsInheritedAsItIs) {
  set_binding_policy(BindingPolicy::kEarly);
  on_a_new_thread([] {
    EXPECT_EQ(seed(), 1U);
    set_seed(2);
    spawn_managed([] { EXPECT_EQ(seed(), 1U); }).join();
    spawn_raw([] { EXPECT_EQ(seed(), 2U); }).join();
  });
  // A parent that has not read yet is bound by what it hands on.
  on_a_new_thread([] {
    const std::thread::id parent = std::this_thread::get_id();
    std::thread child = spawn_managed([parent] {
      EXPECT_NE(std::this_thread::get_id(), parent);
      EXPECT_EQ(seed(), 2U);
    });
    child.join();
    set_seed(4);
    EXPECT_EQ(seed(), 2U);
  });
}

TEST_F(BindingOf, APolicyLeavesBoundThreadsAlone) {
  on_a_new_thread([] {
    EXPECT_EQ(seed(), 1U);
    set_binding_policy(BindingPolicy::kEarly);
    set_seed(2);
    EXPECT_EQ(seed(), 2U);
    set_binding_policy(BindingPolicy::kExplicitOnly);
    set_seed(3);
    EXPECT_EQ(seed(), 3U);
  });
}

TEST_F(BindingOf, ExplicitOnlyRefusesAThreadThatWasGivenNone) {
  set_binding_policy(BindingPolicy::kExplicitOnly);
  on_a_new_thread([] {
    EXPECT_FALSE(thread_has_context());
    try {
      (void)current();
      ADD_FAILURE() << "no exception";
    } catch (const NoContext& error) {
      EXPECT_EQ(std::string(error.what()),
                "this thread was never given a context, and the policy is kExplicitOnly: start it "
                "by spawn_managed() on a thread that has one, or call bind_thread()");
    }
    EXPECT_THROW((void)pin(), NoContext);
    EXPECT_FALSE(thread_has_context()) << "asking is not being given";
  });
}

TEST_F(BindingOf, ExplicitOnlyAcceptsEachWayToBeGivenOne) {
  set_binding_policy(BindingPolicy::kExplicitOnly);
  EXPECT_TRUE(thread_has_context()) << "this thread was bound before";
  spawn_managed([] {
    EXPECT_TRUE(thread_has_context());
    EXPECT_EQ(seed(), 1U);
  }).join();
  EXPECT_EQ(ManagedPool(1).submit([] { return seed(); }).get(), 1U);
  on_a_new_thread([] {
    bind_thread(Binding::kFollowGlobal);
    EXPECT_TRUE(thread_has_context());
    set_seed(2);
    EXPECT_EQ(seed(), 2U);
  });
  on_a_new_thread([] {
    bind_thread(Binding::kSnapshot);
    set_seed(3);
    EXPECT_EQ(seed(), 2U);
  });
  on_a_new_thread([] {
    {
      const ContextOverride mine{ContextImpl{}};
      EXPECT_TRUE(thread_has_context());
      EXPECT_EQ(seed(), RandomGenerator::kDefaultSeed);
    }
    EXPECT_FALSE(thread_has_context());
    EXPECT_THROW((void)current(), NoContext);
  });
}

TEST_F(BindingOf, ExplicitOnlyAlsoHoldsForTheChildrenOfAThreadWithNone) {
  set_binding_policy(BindingPolicy::kExplicitOnly);
  on_a_new_thread([] {
    EXPECT_TRUE(capture_context().has_nothing());
    spawn_managed([] { EXPECT_THROW((void)current(), NoContext); }).join();
    // What says nothing uncovers nothing: here an override, there the thread's own binding.
    const CapturedContext nothing = capture_context();
    bind_thread(Binding::kSnapshot);
    {
      const ContextOverride leaves_it(nothing);
      EXPECT_EQ(seed(), 1U);
      EXPECT_FALSE(capture_context().has_nothing());
    }
    const ContextOverride mine{ContextImpl{}};
    const ContextOverride leaves_it(nothing);
    EXPECT_EQ(seed(), RandomGenerator::kDefaultSeed);
  });
}

TEST_F(BindingOf, AThreadMayBeBoundAgain) {
  on_a_new_thread([] {
    bind_thread(Binding::kSnapshot);
    set_seed(2);
    const ContextImpl& before = current();
    EXPECT_EQ(before.seed(), 1U);
    bind_thread(Binding::kFollowGlobal);
    EXPECT_EQ(before.seed(), 1U) << "valid until the next read";
    EXPECT_EQ(seed(), 2U);
    bind_thread(Binding::kSnapshot);
    bind_thread(Binding::kSnapshot);
    set_seed(3);
    EXPECT_EQ(seed(), 2U);
  });
}

TEST_F(BindingOf, AnOverrideHidesABindingUntilItEnds) {
  on_a_new_thread([] {
    {
      const ContextOverride mine{ContextImpl{}};
      bind_thread(Binding::kSnapshot);
      set_seed(2);
      EXPECT_EQ(seed(), RandomGenerator::kDefaultSeed);
    }
    EXPECT_EQ(seed(), 1U);
  });
}

TEST_F(BindingOf, ADestructorThatReadsAfterTheSnapshotIsGoneFollowsTheGlobalContext) {
  static std::uint64_t seen = 0;
  struct ReadsLate {
    ~ReadsLate() { seen = seed(); }
    bool touched = false;
  };
  on_a_new_thread([] {
    static thread_local ReadsLate late;
    late.touched = true;
    bind_thread(Binding::kSnapshot);
    set_seed(2);
    EXPECT_EQ(seed(), 1U);
  });
  EXPECT_EQ(seen, 2U);
}

}  // namespace
}  // namespace weftrt
