// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/trace/bytes.h"

namespace weft::trace {

void ByteWriter::varint(std::uint64_t value) {
  while (value >= 0x80) {
    fixed8(static_cast<std::uint8_t>(value | 0x80));
    value >>= 7;
  }
  fixed8(static_cast<std::uint8_t>(value));
}

std::uint64_t ByteReader::fixed(std::size_t width) noexcept {
  if (bytes_.size() < width) {
    fail();
    return 0;
  }
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    value |= std::uint64_t{static_cast<std::uint8_t>(bytes_[i])} << (8 * i);
  }
  bytes_.remove_prefix(width);
  return value;
}

std::uint64_t ByteReader::varint() noexcept {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint8_t byte = fixed8();
    if (!ok_) return 0;
    const std::uint64_t bits = byte & 0x7f;
    // The tenth byte has room for one bit; a final zero byte after others says nothing.
    if ((shift == 63 && bits > 1) || (shift != 0 && byte == 0)) break;
    value |= bits << shift;
    if ((byte & 0x80) == 0) return value;
  }
  fail();
  return 0;
}

std::uint64_t ByteReader::varint_up_to(std::uint64_t max) noexcept {
  const std::uint64_t value = varint();
  if (value <= max) return value;
  fail();
  return 0;
}

std::string_view ByteReader::raw(std::uint64_t size) noexcept {
  if (size > bytes_.size()) {
    fail();
    return {};
  }
  const std::string_view result = bytes_.substr(0, size);
  bytes_.remove_prefix(size);
  return result;
}

std::string_view ByteReader::string(std::uint64_t max_size) noexcept {
  return raw(varint_up_to(max_size));
}

std::uint64_t ByteReader::count(std::uint64_t max, std::uint64_t min_record_bytes) noexcept {
  const std::uint64_t records = varint_up_to(max);
  if (records <= bytes_.size() / min_record_bytes) return records;
  fail();
  return 0;
}

}  // namespace weft::trace
