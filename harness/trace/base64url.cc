// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/trace/base64url.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::trace {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr std::int8_t kNotInAlphabet = -1;

constexpr auto kSextets = [] {
  std::array<std::int8_t, 256> table{};
  table.fill(kNotInAlphabet);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    table[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::int8_t>(i);
  }
  return table;
}();

std::string printable(char character) {
  const auto code = static_cast<unsigned char>(character);
  if (code > 0x20 && code < 0x7f) return fmt::format("'{}'", character);
  return fmt::format("byte 0x{:02x}", code);
}

}  // namespace

std::string encode_base64url(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() * 4 + 2) / 3);
  std::uint32_t pending = 0;
  unsigned pending_bits = 0;
  for (const char byte : bytes) {
    pending = pending << 8 | static_cast<unsigned char>(byte);
    pending_bits += 8;
    while (pending_bits >= 6) {
      pending_bits -= 6;
      text.push_back(kAlphabet[pending >> pending_bits & 63]);
    }
  }
  if (pending_bits != 0) text.push_back(kAlphabet[pending << (6 - pending_bits) & 63]);
  return text;
}

Outcome<std::string> decode_base64url(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t pending = 0;
  unsigned pending_bits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::int8_t sextet = kSextets[static_cast<unsigned char>(text[i])];
    if (sextet == kNotInAlphabet) {
      return Failure{
          fmt::format("character {} is {}, which no token contains", i + 1, printable(text[i]))};
    }
    pending = pending << 6 | static_cast<std::uint32_t>(sextet);
    pending_bits += 6;
    if (pending_bits >= 8) {
      pending_bits -= 8;
      bytes.push_back(static_cast<char>(pending >> pending_bits));
    }
  }
  if (pending_bits == 6 || (pending & ((1u << pending_bits) - 1)) != 0) {
    return Failure{"its last character ends no byte: one was changed or lost in copying"};
  }
  return bytes;
}

}  // namespace weft::trace
