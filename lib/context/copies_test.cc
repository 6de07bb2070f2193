// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: several copies of the runtime in one process, each hidden in a shared library, share
// nothing: global context, what threads read, stash, operators. Method: two libraries of the same
// source (copy_for_test.cc) beside the runtime of this program.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <thread>

#include "lib/context/context.h"

namespace weftrt {
namespace {

class Copy {
  template <class Function, class... Args>
  auto call(const char* name, Args... arguments) const {
    return reinterpret_cast<Function*>(dlsym(library_, name))(arguments...);
  }

 public:
  explicit Copy(const char* path) : library_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_NE(library_, nullptr) << dlerror();
  }

  [[nodiscard]] unsigned long seed() const { return call<unsigned long()>("copy_seed"); }
  void set_seed(unsigned long to) const { call<void(unsigned long)>("copy_set_seed", to); }
  [[nodiscard]] unsigned long generation() const {
    return call<unsigned long()>("copy_generation");
  }
  [[nodiscard]] unsigned long live() const {
    return call<unsigned long()>("copy_live_implementations");
  }
  void stash() const { call<void()>("copy_stash"); }
  [[nodiscard]] int stashed() const { return call<int()>("copy_stashed"); }
  void register_who(int (*who)()) const { call<void(int (*)())>("copy_register", who); }
  [[nodiscard]] int who() const { return call<int()>("copy_call"); }

 private:
  void* library_;  // never closed: a copy's global context lives as long as the process
};

class Copies : public ::testing::Test {
 protected:
  const Copy one{WEFTRT_COPY_ONE};
  const Copy other{WEFTRT_COPY_OTHER};
};

TEST_F(Copies, EachHasAGlobalContextOfItsOwn) {
  update_global([](ContextImpl& impl) { impl.seed_all(100); });
  one.set_seed(1);
  other.set_seed(2);
  EXPECT_EQ(one.seed(), 1U);
  EXPECT_EQ(other.seed(), 2U);
  EXPECT_EQ(current().seed(), 100U);
  const auto generation_of_other = other.generation();
  const auto generation_here = generation();
  const auto generation_of_one = one.generation();
  one.set_seed(3);
  EXPECT_EQ(one.generation(), generation_of_one + 1);
  EXPECT_EQ(other.generation(), generation_of_other);
  EXPECT_EQ(generation(), generation_here);
  std::thread([&] {
    EXPECT_EQ(one.seed(), 3U);
    EXPECT_EQ(other.seed(), 2U);
    EXPECT_EQ(current().seed(), 100U);
  }).join();
}

TEST_F(Copies, EachReleasesWhatAThreadHeldOfIt) {
  one.set_seed(1);
  other.set_seed(2);
  (void)one.seed();
  (void)other.seed();
  const auto live_in_one = one.live();
  const auto live_in_other = other.live();
  std::thread([&] {
    (void)one.seed();
    (void)other.seed();
    one.set_seed(5);  // what this thread and the main one hold is now an older one
    one.stash();
    EXPECT_EQ(one.stashed(), 1);
    EXPECT_EQ(other.stashed(), 0);
    EXPECT_EQ(one.live(), live_in_one + 1);
    EXPECT_EQ(other.live(), live_in_other);
  }).join();
  EXPECT_EQ(one.stashed(), 0);
  EXPECT_EQ(one.seed(), 5U);
  EXPECT_EQ(one.live(), live_in_one);
}

TEST_F(Copies, EachHasOperatorsOfItsOwn) {
  one.register_who(+[] { return 1; });
  other.register_who(+[] { return 2; });
  EXPECT_EQ(one.who(), 1);
  EXPECT_EQ(other.who(), 2);
}

}  // namespace
}  // namespace weftrt
