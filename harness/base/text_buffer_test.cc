// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: numbers and text come out exactly, and what does not fit is cut off, never written past the
// end. Method: exact expected strings, and guard bytes behind a small buffer.

#include "harness/base/text_buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace weft {
namespace {

TEST(TextBufferTest, FormatsNumbers) {
  FixedText<256> text;
  text.append_uint(0)
      .append(' ')
      .append_uint(std::numeric_limits<std::uint64_t>::max())
      .append(' ');
  text.append_int(-1).append(' ').append_int(std::numeric_limits<std::int64_t>::min()).append(' ');
  text.append_hex(0).append(' ').append_hex(0xdeadbeef).append(' ').append_hex(0xab, 8).append(' ');
  text.append_hex(~std::uint64_t{0}, 99);
  EXPECT_EQ(text.view(),
            "0 18446744073709551615 -1 -9223372036854775808 0x0 0xdeadbeef 0x000000ab "
            "0xffffffffffffffff");
  EXPECT_FALSE(text.truncated());
}

TEST(TextBufferTest, CountsBytes) {
  FixedText<64> text;
  text.append_bytes(1).append(", ").append_bytes(2).append(", ").append_bytes(0);
  EXPECT_STREQ(text.c_str(), "1 byte, 2 bytes, 0 bytes");
}

TEST(TextBufferTest, CutsOffAtTheEndAndSaysSo) {
  char storage[12];
  std::memset(storage, '#', sizeof storage);
  TextBuffer text(std::span<char>(storage, 8));
  text.append("12345");
  EXPECT_FALSE(text.truncated());
  text.append("6789");
  EXPECT_EQ(text.view(), "1234567");
  EXPECT_TRUE(text.truncated());
  EXPECT_EQ(storage[7], '\0');
  EXPECT_EQ(std::string(storage + 8, 4), "####");
  text.replace_tail("...");
  text.append_final_newline();
  EXPECT_STREQ(text.c_str(), "1234..\n");
}

TEST(TextBufferTest, ClearStartsAfresh) {
  FixedText<4> text;
  text.append("abcdef");
  text.clear();
  EXPECT_TRUE(text.empty());
  EXPECT_FALSE(text.truncated());
  EXPECT_STREQ(text.append("xyz").c_str(), "xyz");
}

}  // namespace
}  // namespace weft
