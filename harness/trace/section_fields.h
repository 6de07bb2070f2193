// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The fields that several of a trace file's sections have, one pair of functions each. Supervisor
// side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "harness/trace/bytes.h"
#include "harness/trace/trace.h"

namespace weft::trace {

// The fewest bytes that a site takes; see ByteReader::count().
inline constexpr std::uint64_t kMinSite = 2;

template <typename Enum>
Enum read_enum(ByteReader& in, Enum end) {
  return static_cast<Enum>(in.varint_up_to(static_cast<std::uint64_t>(end) - 1));
}

// Indices are written plus one, so that "none" takes one byte.
template <typename Index>
void write_index(ByteWriter& out, Index index, Index none) {
  out.varint(index == none ? 0 : std::uint64_t{index} + 1);
}
template <typename Index>
Index read_index(ByteReader& in, Index none) {
  const std::uint64_t value = in.varint_up_to(none);
  return value == 0 ? none : static_cast<Index>(value - 1);
}

inline void write_site(ByteWriter& out, Site site) {
  write_index(out, site.module, UINT32_MAX);
  out.varint(site.offset);
}
inline Site read_site(ByteReader& in) {
  Site site;
  site.module = read_index(in, UINT32_MAX);
  site.offset = static_cast<std::uint32_t>(in.varint_up_to(UINT32_MAX));
  return site;
}

inline void write_object(ByteWriter& out, const ObjectId& object) {
  out.varint(static_cast<std::uint64_t>(object.space));
  out.fixed64(object.owner);
  out.varint(object.offset);
  out.varint(object.ordinal);
}
inline ObjectId read_object(ByteReader& in) {
  ObjectId object;
  object.space =
      static_cast<ObjectSpace>(in.varint_up_to(static_cast<std::uint64_t>(ObjectSpace::kForeign)));
  object.owner = in.fixed64();
  object.offset = in.varint();
  object.ordinal = static_cast<std::uint32_t>(in.varint_up_to(UINT32_MAX));
  return object;
}

inline void write_stack(ByteWriter& out, const Stack& stack) {
  const std::uint32_t count = std::min<std::uint32_t>(stack.count, kMaxFrames);
  out.varint(count);
  for (std::uint32_t i = 0; i < count; ++i) write_site(out, stack.frames[i]);
}
inline Stack read_stack(ByteReader& in) {
  Stack stack;
  stack.count = static_cast<std::uint32_t>(in.count(kMaxFrames, kMinSite));
  for (std::uint32_t i = 0; i < stack.count; ++i) stack.frames[i] = read_site(in);
  return stack;
}

// The worker ends every text with NUL, but the subject may have written over it.
template <std::size_t N>
std::string_view bounded(const char (&text)[N]) {
  return {text, ::strnlen(text, N - 1)};
}
template <std::size_t N>
void read_bounded(ByteReader& in, char (&text)[N]) {
  const std::string_view bytes = in.string(N - 1);
  if (bytes.find('\0') != std::string_view::npos) return in.fail();
  std::copy(bytes.begin(), bytes.end(), text);
  text[bytes.size()] = '\0';
}

}  // namespace weft::trace
