// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: the invariants of operators.h: who sees which operator, and what becomes of a library's.
// Method: a real shared library (dispatch/plugin_for_test.cc), and a rival of the same operators.

#include "lib/context/operators.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "lib/context/override.h"

namespace weftrt {
namespace {

constexpr DeviceKind kCpu = DeviceKind::kCpu;

int one() { return 1; }
int two() { return 2; }

class Operators : public ::testing::Test {
 protected:
  void SetUp() override { (void)swap_global(ContextImpl{}); }
};

// Invariant 1; docs/cases.md 15.
TEST_F(Operators, OneIsInTheContextsThatAreTakenAfterItWasRegistered) {
  const Operator<int()> op("operators_test.late");
  const ContextPin before = pin();
  const ContextOverride copy_of_before(*before);
  const std::uint64_t changes = generation();
  EXPECT_EQ(register_operator(op, kCpu, &one), changes + 1);
  EXPECT_EQ(before->operators.find(op, kCpu), nullptr);
  EXPECT_THROW((void)call(op, kCpu), OperatorNotFound) << "the override began before";
  {
    const ContextOverride global{CapturedContext()};
    EXPECT_EQ(call(op, kCpu), 1);
    EXPECT_EQ(pin()->operators.get(op, kCpu), &one);
  }
  std::thread([&] { EXPECT_EQ(call(op, kCpu), 1); }).join();
}

TEST_F(Operators, ArgumentsAndResultsPassAsDeclared) {
  const Operator<std::string(const std::string&, int)> op("operators_test.repeat");
  register_operator(
      op, kCpu, +[](const std::string& text, int times) {
        std::string result;
        for (int i = 0; i < times; ++i) result += text;
        return result;
      });
  EXPECT_EQ(call(op, kCpu, "ab", 3), "ababab");
  int argument = 1;
  const Operator<void(int&)> increment("operators_test.increment");
  register_operator(
      increment, kCpu, +[](int& x) { ++x; });
  call(increment, kCpu, argument);
  EXPECT_EQ(argument, 2);
}

// Invariant 2.
TEST_F(Operators, TheFirstToRegisterWins) {
  const Operator<int()> op("operators_test.contested");
  register_operator(op, kCpu, &one);
  EXPECT_THROW(register_operator(op, kCpu, &two), OperatorExists);
  EXPECT_FALSE(OperatorRegistration(op, kCpu, &two).registered());
  EXPECT_TRUE(OperatorRegistration(op, kCpu, &one).registered());
  EXPECT_EQ(call(op, kCpu), 1);
}

TEST_F(Operators, RacingRegistrationsAreAllKept) {
  constexpr int kThreads = 3;
  constexpr int kEach = 30;
  std::atomic<int> missing{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        const Operator<int()> op("operators_test.raced." + std::to_string(t * kEach + i));
        register_operator(op, kCpu, &one);
        if (call(op, kCpu) != 1) ++missing;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(missing, 0);
  EXPECT_EQ(current().operators.size(), static_cast<std::size_t>(kThreads * kEach));
}

TEST_F(Operators, AnEditOfTheGlobalContextRegistersByItsArgumentAlone) {
  const Operator<int()> op("operators_test.in_an_edit");
  const std::uint64_t changes = generation();
  EXPECT_THROW(update_global([&](ContextImpl&) { register_operator(op, kCpu, &one); }),
               std::logic_error);
  EXPECT_EQ(generation(), changes);
  EXPECT_EQ(current().operators.find(op, kCpu), nullptr);

  update_global([&](ContextImpl& impl) {
    EXPECT_FALSE(OperatorRegistration(op, kCpu, &two).registered());
    impl.operators.add(op, kCpu, &one);
  });
  EXPECT_EQ(generation(), changes + 1);
  EXPECT_EQ(call(op, kCpu), 1);
}

TEST_F(Operators, AFunctionMayChangeTheContextItWasFoundIn) {
  const Operator<std::uint64_t()> op("operators_test.reseed");
  register_operator(
      op, kCpu, +[] {
        update_global([](ContextImpl& impl) { impl.seed_all(31); });
        return current().seed();
      });
  EXPECT_EQ(call(op, kCpu), 31U);
}

void* open(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << dlerror();
  return library;
}
bool is_loaded(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return false;
  dlclose(library);
  return true;
}
bool registered(void* library) {
  return reinterpret_cast<bool (*)()>(dlsym(library, "plugin_registered"))();
}

// Opened, opened twice, closed while contexts hold its functions, opened again, and opened beside a
// rival. One test, because a library's initialisers run once in a process.
TEST_F(Operators, ALibrarysOperatorsStayWhoeverClosesIt) {
  if (is_loaded(WEFTRT_PLUGIN)) GTEST_SKIP() << "its initialisers ran in an earlier repetition";
  const Operator<int(int)> scale("plugin_for_test.scale");
  const ContextPin before = pin();

  void* const first = open(WEFTRT_PLUGIN);
  ASSERT_TRUE(registered(first));
  EXPECT_EQ(before->operators.find(scale, kCpu), nullptr);
  EXPECT_EQ(call(scale, kCpu, 4), 40);
  const std::uint64_t changes = generation();

  void* const again = open(WEFTRT_PLUGIN);
  EXPECT_EQ(again, first);
  EXPECT_EQ(generation(), changes) << "opened twice, registered once";

  const ContextPin holds_it = pin();
  EXPECT_EQ(dlclose(first), 0);
  EXPECT_EQ(dlclose(again), 0);
  EXPECT_TRUE(is_loaded(WEFTRT_PLUGIN));
  EXPECT_EQ(holds_it->operators.get(scale, kCpu)(5), 50);
  EXPECT_EQ(call(scale, kCpu, 6), 60);

  void* const reopened = open(WEFTRT_PLUGIN);
  EXPECT_EQ(generation(), changes);
  EXPECT_EQ(call(scale, kCpu, 7), 70);
  dlclose(reopened);

  void* const rival = open(WEFTRT_RIVAL_PLUGIN);
  EXPECT_FALSE(registered(rival));
  EXPECT_EQ(call(scale, kCpu, 8), 80) << "the first one wins";
  dlclose(rival);
  EXPECT_FALSE(is_loaded(WEFTRT_RIVAL_PLUGIN)) << "what no table holds goes as ever";
}

}  // namespace
}  // namespace weftrt
