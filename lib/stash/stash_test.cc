// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: the invariants of stash.h: one object per key and thread, initialised once, released once.
// Method: objects that count their lives.

#include "lib/stash/stash.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace weftrt {
namespace {

std::atomic<int> g_made{0};
std::atomic<int> g_destroyed{0};

struct Counted {
  explicit Counted(int v = 0) : value(v) { ++g_made; }
  ~Counted() { ++g_destroyed; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  int value;
};

const StashKey<Counted> kPlain("stash_test.plain");
const StashKey<Counted> kLazy("stash_test.lazy", StashRule::kPrivate,
                              [] { return std::make_shared<Counted>(7); });

class Stash : public ::testing::Test {
 protected:
  void SetUp() override {
    (void)stash::erase(kPlain);
    (void)stash::erase(kLazy);
    g_made = 0;
    g_destroyed = 0;
  }
};

TEST_F(Stash, SetGetContainsErase) {
  EXPECT_FALSE(stash::contains(kPlain));
  stash::set(kPlain, std::make_shared<Counted>(1));
  EXPECT_TRUE(stash::contains(kPlain));
  EXPECT_EQ(stash::get(kPlain)->value, 1);
  stash::set(kPlain, std::make_shared<Counted>(2));
  EXPECT_EQ(g_destroyed, 1);
  EXPECT_EQ(stash::erase(kPlain)->value, 2);
  EXPECT_FALSE(stash::contains(kPlain));
  EXPECT_EQ(stash::erase(kPlain), nullptr);
  EXPECT_EQ(g_destroyed, 2);
}

TEST_F(Stash, AMissingKeyIsNamed) {
  try {
    (void)stash::get(kPlain);
    FAIL() << "no exception";
  } catch (const MissingStashObject& missing) {
    EXPECT_STREQ(missing.what(), "stash key 'stash_test.plain' has no object on this thread");
  }
  EXPECT_THROW((void)stash::get_or_init(kPlain), MissingStashObject);
}

TEST_F(Stash, ANullObjectIsRefused) {
  EXPECT_THROW(stash::set(kPlain, std::shared_ptr<Counted>()), std::invalid_argument);
  EXPECT_FALSE(stash::contains(kPlain));
}

TEST_F(Stash, InitialisesOnceOnEachThread) {
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([] {
      EXPECT_FALSE(stash::contains(kLazy));
      const auto first = stash::get_or_init(kLazy);
      EXPECT_EQ(first->value, 7);
      EXPECT_EQ(stash::get_or_init(kLazy), first);
      EXPECT_EQ(stash::get(kLazy), first);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(g_made, kThreads);
  EXPECT_EQ(g_destroyed, kThreads);
  EXPECT_FALSE(stash::contains(kLazy));
}

TEST_F(Stash, AnObjectThatIsThereIsNotInitialised) {
  stash::set(kLazy, std::make_shared<Counted>(1));
  EXPECT_EQ(stash::get_or_init(kLazy)->value, 1);
  EXPECT_EQ(g_made, 1);
}

TEST_F(Stash, AnInitialiserThatThrowsMayBeTriedAgain) {
  static int attempts = 0;
  const StashKey<Counted> key("stash_test.throwing", StashRule::kPrivate, [] {
    if (++attempts == 1) throw std::runtime_error("not yet");
    return std::make_shared<Counted>(attempts);
  });
  EXPECT_THROW((void)stash::get_or_init(key), std::runtime_error);
  EXPECT_FALSE(stash::contains(key));
  EXPECT_EQ(stash::get_or_init(key)->value, 2);
  (void)stash::erase(key);
}

TEST_F(Stash, AnInitialiserThatReturnsNullIsRefused) {
  const StashKey<Counted> key("stash_test.null", StashRule::kPrivate,
                              []() -> std::shared_ptr<Counted> { return nullptr; });
  EXPECT_THROW((void)stash::get_or_init(key), std::logic_error);
  EXPECT_FALSE(stash::contains(key));
}

TEST_F(Stash, AnInitialiserThatAsksForItselfIsRefused) {
  static const StashKey<Counted> key("stash_test.recursive", StashRule::kPrivate, [] {
    return stash::get_or_init(StashKey<Counted>("stash_test.recursive"));
  });
  EXPECT_THROW((void)stash::get_or_init(key), std::logic_error);
}

TEST_F(Stash, AnInitialiserMayUseOtherKeys) {
  const StashKey<Counted> key("stash_test.dependent", StashRule::kPrivate, [] {
    stash::set(kPlain, std::make_shared<Counted>(10));
    return std::make_shared<Counted>(stash::get_or_init(kLazy)->value + 1);
  });
  EXPECT_EQ(stash::get_or_init(key)->value, 8);
  EXPECT_EQ(stash::get(kPlain)->value, 10);
  (void)stash::erase(key);
}

// docs/cases.md 8: the stash gives back the reference it was given, and no other.
TEST_F(Stash, AReferenceTheCallerKeepsIsTheCallers) {
  const auto mine = std::make_shared<Counted>(3);
  stash::set(kPlain, mine);
  EXPECT_EQ(mine.use_count(), 2);
  (void)stash::erase(kPlain);
  EXPECT_EQ(mine.use_count(), 1);
  std::thread([&] { stash::set(kPlain, mine); }).join();
  EXPECT_EQ(mine.use_count(), 1);
  EXPECT_EQ(g_destroyed, 0);
}

// An object whose destructor uses the stash of the thread that is ending.
struct UsesTheStashWhenItEnds {
  explicit UsesTheStashWhenItEnds(int* saw) : saw_(saw) {}
  ~UsesTheStashWhenItEnds() { *saw_ = stash::get_or_init(kLazy)->value; }
  UsesTheStashWhenItEnds(const UsesTheStashWhenItEnds&) = delete;
  UsesTheStashWhenItEnds& operator=(const UsesTheStashWhenItEnds&) = delete;

 private:
  int* saw_;
};
const StashKey<UsesTheStashWhenItEnds> kLate("stash_test.late");

TEST_F(Stash, ADestructorMayUseTheStashAtThreadExit) {
  int older_saw = 0;
  std::thread([&] {
    stash::set(kLate, std::make_shared<UsesTheStashWhenItEnds>(&older_saw));
    stash::get_or_init(kLazy)->value = 99;  // newer, so released before kLate, which makes another
  }).join();
  EXPECT_EQ(older_saw, 7);
  EXPECT_EQ(g_made, 2);
  EXPECT_EQ(g_destroyed, 2);
}

TEST_F(Stash, AThreadLocalDestroyedAfterTheStashMayUseItAgain) {
  static int saw = 0;
  struct Late {
    ~Late() { saw = stash::get_or_init(kLazy)->value; }
    bool touched = false;
  };
  std::thread([] {
    static thread_local Late late;
    late.touched = true;
    stash::get_or_init(kLazy)->value = 99;
  }).join();
  EXPECT_EQ(saw, 7);
  EXPECT_EQ(g_made, 2);
  EXPECT_EQ(g_destroyed, 2);
}

TEST_F(Stash, AKeyDestructorMayUseItAgain) {
  static int saw = 0;
  pthread_key_t key;
  ASSERT_EQ(pthread_key_create(&key, [](void*) { saw = stash::get_or_init(kLazy)->value; }), 0);
  std::thread([&] {
    pthread_setspecific(key, &key);
    stash::get_or_init(kLazy)->value = 99;
  }).join();
  pthread_key_delete(key);
  EXPECT_EQ(saw, 7);
  EXPECT_EQ(g_made, 2);
  EXPECT_EQ(g_destroyed, 2);
}

// What nobody handed over is destroyed by the thread that stashed it, at its end or before.
TEST_F(Stash, AnObjectIsDestroyedOnItsOwnThread) {
  struct NotesItsThread {
    ~NotesItsThread() { *destroyed_on = std::this_thread::get_id(); }
    std::thread::id* destroyed_on;
  };
  const StashKey<NotesItsThread> key("stash_test.notes");
  std::thread::id destroyed_on;
  std::thread owner(
      [&] { stash::set(key, std::shared_ptr<NotesItsThread>(new NotesItsThread{&destroyed_on})); });
  const std::thread::id owner_id = owner.get_id();
  owner.join();
  EXPECT_EQ(destroyed_on, owner_id);
}

TEST_F(Stash, FindGivesTheObjectAndKeepsNoReference) {
  EXPECT_EQ(stash::find(kPlain), nullptr);
  const auto mine = std::make_shared<Counted>(3);
  stash::set(kPlain, mine);
  EXPECT_EQ(stash::find(kPlain), mine.get());
  EXPECT_EQ(mine.use_count(), 2);
  (void)stash::erase(kPlain);
  EXPECT_EQ(stash::find(kPlain), nullptr);
}

}  // namespace
}  // namespace weftrt
