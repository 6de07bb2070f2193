// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tokens are pasted by people and by programs: any text must be refused in words or mean exactly
// one token. Random changes rarely get past the checksum, so most mutations are made below it.

#include <algorithm>
#include <string>
#include <string_view>

#include "fuzz/fuzzer.h"
#include "harness/trace/base64url.h"
#include "harness/trace/bytes.h"
#include "harness/trace/checksum.h"
#include "harness/trace/token.h"

namespace {

using weft::fuzz::require;

constexpr std::size_t kRoom = 64;
constexpr std::size_t kChecksumBytes = 4;

// Of either version; empty for what is no token.
std::string_view prefix_of(std::string_view text) {
  for (const std::string_view prefix : {weft::trace::kTokenPrefix, weft::trace::kOldTokenPrefix}) {
    if (text.starts_with(prefix)) return prefix;
  }
  return {};
}

std::string framed(std::string_view prefix, std::string_view body) {
  weft::trace::ByteWriter out;
  out.varint(body.size());
  out.raw(body);
  out.fixed32(static_cast<std::uint32_t>(weft::trace::checksum(out.bytes())));
  return std::string(prefix) + weft::trace::encode_base64url(out.bytes());
}

// The bytes between length and checksum, or nothing for what is no token.
std::string body_of(std::string_view text) {
  const std::string_view prefix = prefix_of(text);
  if (prefix.empty()) return {};
  const auto bytes = weft::trace::decode_base64url(text.substr(prefix.size()));
  if (!bytes) return {};
  weft::trace::ByteReader in(*bytes);
  const std::uint64_t size = in.varint();
  if (!in.ok() || in.left() != size + kChecksumBytes) return {};
  return std::string(in.raw(size));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto token = weft::trace::parse_token(text);
  if (!token) {
    require(token.error().starts_with("bad token: "), "a refusal says what is wrong");
    return 0;
  }
  const std::string canonical = weft::trace::format_token(*token);
  const auto again = weft::trace::parse_token(canonical);
  require(static_cast<bool>(again), "what was formatted parses");
  require(*again == *token, "and means the same");
  require(weft::trace::format_token(*again) == canonical, "in the same text");
  return 0;
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                    unsigned seed) {
  const std::string_view given(reinterpret_cast<const char*>(data), size);
  const std::string body = body_of(given);
  constexpr unsigned kOneInSoManyIsRaw = 8;
  if (body.empty() || seed % kOneInSoManyIsRaw == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::string text = framed(prefix_of(given), weft::fuzz::mutated(body, kRoom));
  if (text.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::copy(text.begin(), text.end(), data);
  return text.size();
}
