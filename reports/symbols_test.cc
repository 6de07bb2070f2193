// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: addresses of this very program and of a shared library come back as the functions, inlined
// calls, lines and variables that the compiler put there. Method: code that asks for its own
// address.

#include "reports/symbols.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstdint>
#include <cstdio>

namespace weft::reports::symbols_test {

struct Cell {
  int first;
  int second;
};
Cell cell;

std::uintptr_t where;

// A call records its return address, one less of which lies in it.
[[gnu::noinline]] void record_caller() {
  where = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1;
}

[[gnu::always_inline]] inline void inlined(int line[2]) {
  line[0] = __LINE__ + 1;
  record_caller();
}

[[gnu::noinline]] void outer(int line[2]) {
  line[1] = __LINE__ + 1;
  inlined(line);
  ++cell.second;  // the call above is not the last thing
}

namespace {

struct Place {
  std::string module;
  std::uint64_t offset;
};

Place place_of(const void* address) {
  Dl_info info;
  link_map* map = nullptr;
  EXPECT_NE(::dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP), 0);
  const bool main_program = map->l_name[0] == '\0';
  return {main_program ? "/proc/self/exe" : map->l_name,
          reinterpret_cast<std::uintptr_t>(address) - map->l_addr};
}

TEST(Symbols, CodeComesBackWithItsInlinedCalls) {
  int line[2];
  outer(line);
  const Place place = place_of(reinterpret_cast<const void*>(where));
  const auto frames = make_symbolizer()->code(place.module, place.offset);
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].function, "weft::reports::symbols_test::inlined(int*)");
  EXPECT_EQ(frames[0].line, static_cast<std::uint32_t>(line[0]));
  EXPECT_THAT(frames[0].file, ::testing::EndsWith("reports/symbols_test.cc"));
  EXPECT_EQ(frames[1].function, "weft::reports::symbols_test::outer(int*)");
  EXPECT_EQ(frames[1].line, static_cast<std::uint32_t>(line[1]));
}

TEST(Symbols, VariablesComeBackByName) {
  const auto symbolizer = make_symbolizer();
  const Place place = place_of(&cell);
  EXPECT_EQ(symbolizer->data(place.module, place.offset), "weft::reports::symbols_test::cell");
  EXPECT_EQ(symbolizer->data(place.module, place.offset + 4),
            "weft::reports::symbols_test::cell+4");
}

TEST(Symbols, ALibraryWithoutDebugInformationGivesItsSymbols) {
  const Place place = place_of(::dlsym(RTLD_DEFAULT, "l64a"));
  EXPECT_THAT(place.module, ::testing::HasSubstr("libc.so"));
  const auto frames = make_symbolizer()->code(place.module, place.offset);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].function, "l64a");
  EXPECT_EQ(frames[0].line, 0u);
}

TEST(Symbols, WhatIsUnknownIsEmpty) {
  const auto symbolizer = make_symbolizer();
  EXPECT_TRUE(symbolizer->code("/no/such/file", 0x1000).empty());
  EXPECT_TRUE(symbolizer->code("/proc/self/exe", 0).empty());
  EXPECT_TRUE(symbolizer->code("/proc/self/exe", ~std::uint64_t{0}).empty());
  EXPECT_TRUE(symbolizer->data("/proc/self/exe", 1).empty());
  EXPECT_TRUE(symbolizer->data(__FILE__, 0x1000).empty());
}

}  // namespace
}  // namespace weft::reports::symbols_test
