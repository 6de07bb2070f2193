// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/executor/function_bounds.h"

#include <algorithm>
#include <cstring>

namespace weft::executor {
namespace {

// DW_EH_PE_*: how an address is stored. The low four bits are its type, the others its base.
constexpr std::uint8_t kUnsigned32 = 0x03;
constexpr std::uint8_t kRelativeToPlace = 0x10 | 0x0b;   // 32 bits, signed
constexpr std::uint8_t kRelativeToHeader = 0x30 | 0x0b;  // 32 bits, signed

struct HeaderStart {
  std::uint8_t version;
  std::uint8_t frame_encoding;
  std::uint8_t count_encoding;
  std::uint8_t table_encoding;
  std::int32_t frame;
  std::uint32_t count;
};

template <typename T>
T read(const std::uint8_t* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::size_t size_of_encoded(std::uint8_t encoding) noexcept {
  switch (encoding & 0x07) {
    case 2: return 2;
    case 3: return 4;
    default: return 8;  // an address as it is, or 64 bits
  }
}

const std::uint8_t* skip_leb128(const std::uint8_t* at) noexcept {
  while ((*at & 0x80) != 0) ++at;
  return at + 1;
}

// How a common information entry says that its functions' addresses are stored: the R of its
// augmentation. Linkers write "zR", "zPLR" and the like; without one they are plain addresses.
std::uint8_t address_encoding(const std::uint8_t* common) noexcept {
  const auto* const augmentation = reinterpret_cast<const char*>(common + 9);
  const std::uint8_t* at = common + 9 + std::strlen(augmentation) + 1;
  for (int field = 0; field < 3; ++field) at = skip_leb128(at);  // alignments, return register
  if (augmentation[0] != 'z') return 0;
  at = skip_leb128(at);
  for (const char* letter = augmentation + 1; *letter != '\0'; ++letter) {
    if (*letter == 'R') return *at;
    if (*letter == 'L') at += 1;
    if (*letter == 'P') at += 1 + size_of_encoded(*at);
  }
  return 0;
}

// The length of the function that a frame description entry describes: the word behind its address.
std::size_t function_size(const std::uint8_t* description) noexcept {
  const std::uint8_t* const common = description + 4 - read<std::int32_t>(description + 4);
  const std::size_t size = size_of_encoded(address_encoding(common));
  std::uint64_t length = 0;
  std::memcpy(&length, description + 8 + size, size);
  return length;
}

}  // namespace

FunctionBounds::FunctionBounds(const std::uint8_t* header) noexcept : header_(header) {
  const auto start = read<HeaderStart>(header);
  if (start.version != 1 || start.frame_encoding != kRelativeToPlace ||
      start.count_encoding != kUnsigned32 || start.table_encoding != kRelativeToHeader) {
    return;
  }
  entries_ = {reinterpret_cast<const Entry*>(header + sizeof start), start.count};
}

CodeRange FunctionBounds::operator[](std::size_t index) const noexcept {
  const Entry& entry = entries_[index];
  const std::uint8_t* const begin = header_ + entry.function;
  return {begin, begin + function_size(header_ + entry.description), true};
}

CodeRange FunctionBounds::find(const std::uint8_t* byte, CodeRange segment) const noexcept {
  const auto next = std::upper_bound(
      entries_.begin(), entries_.end(), byte,
      [this](const std::uint8_t* wanted, const Entry& e) { return wanted < header_ + e.function; });
  CodeRange range{segment.begin, segment.end, false};
  if (next != entries_.end()) range.end = std::min(range.end, header_ + next->function);
  if (next == entries_.begin()) return range;
  const CodeRange function = (*this)[static_cast<std::size_t>(next - entries_.begin()) - 1];
  if (function.contains(byte)) {
    // Not behind the next one's start, which some hand-written description might reach.
    return {std::max(segment.begin, function.begin), std::min(range.end, function.end), true};
  }
  range.begin = std::max(range.begin, function.end);
  return range;
}

}  // namespace weft::executor
