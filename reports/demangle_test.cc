// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: functions are called as people call them. Method: names that compilers really make.

#include "reports/demangle.h"

#include <gtest/gtest.h>

#include <utility>

namespace weft::reports {
namespace {

TEST(Demangle, LeavesAloneWhatIsNotMangled) {
  EXPECT_EQ(demangle("_ZN1n4cellE"), "n::cell");
  EXPECT_EQ(demangle("main"), "main");
  EXPECT_EQ(demangle("_Zebra"), "_Zebra");
  EXPECT_EQ(demangle("plain.cold"), "plain.cold");
}

TEST(Demangle, DropsWhatTheCompilerAppended) {
  EXPECT_EQ(demangle("_ZN1n4cellE.0"), "n::cell");
  EXPECT_EQ(demangle("_ZN1n4readEv.llvm.123"), "n::read()");
}

TEST(ShortFunction, DropsWhatNobodySays) {
  const std::pair<const char*, const char*> cases[] = {
      {"main", "main"},
      {"f(int, std::vector<int>)", "f"},
      {"void (anonymous namespace)::g<int>(int) [clone .cold]", "g<int>"},
      {"std::mutex::lock()", "std::mutex::lock"},
      {"main::{lambda()#1}::operator()() const", "main::{lambda#1}::operator()"},
      {"main::$_0::operator()() const", "main::$_0::operator()"},
      {"(anonymous namespace)::S::f(void (*)(int))", "S::f"},
      {"void std::__invoke_impl<void, main::{lambda()#2}>(std::__invoke_other)",
       "std::__invoke_impl<...>"},
      {"std::__invoke_result<main::$_0>::type std::__invoke<main::$_0>(main::$_0&&)",
       "std::__invoke<main::$_0>"},
      {"std::shared_ptr<int>::operator->() const", "std::shared_ptr<int>::operator->"},
      {"bool operator<(A const&, A const&)", "operator<"},
      {"unsigned long const& max<unsigned long>(unsigned long const&)", "max<unsigned long>"},
      {"", ""},
  };
  for (const auto& [full, expected] : cases) EXPECT_EQ(short_function(full), expected) << full;
}

}  // namespace
}  // namespace weft::reports
