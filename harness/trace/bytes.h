// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The byte encoding under tokens and trace files: little-endian fixed words, LEB128 varints and
// length-prefixed strings. Supervisor side.
//
// The reader takes any bytes, from anybody. Its first failure sticks: everything read afterwards is
// zero or empty, so a decoder may read a whole record and ask ok() once. Varints have one encoding
// each; longer ones are refused, so equal values always have equal bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace weft::trace {

class ByteWriter {
 public:
  void fixed8(std::uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  void fixed16(std::uint16_t value) { fixed(value, 2); }
  void fixed32(std::uint32_t value) { fixed(value, 4); }
  void fixed64(std::uint64_t value) { fixed(value, 8); }
  void varint(std::uint64_t value);
  void raw(std::string_view bytes) { bytes_.append(bytes); }
  void string(std::string_view text) {
    varint(text.size());
    raw(text);
  }

  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::string take() noexcept { return std::move(bytes_); }

 private:
  void fixed(std::uint64_t value, int width) {
    for (int i = 0; i < width; ++i) fixed8(static_cast<std::uint8_t>(value >> (8 * i)));
  }

  std::string bytes_;
};

class ByteReader {
 public:
  /// `bytes` must outlive the reader.
  explicit ByteReader(std::string_view bytes) noexcept : bytes_(bytes) {}

  std::uint8_t fixed8() noexcept { return static_cast<std::uint8_t>(fixed(1)); }
  std::uint16_t fixed16() noexcept { return static_cast<std::uint16_t>(fixed(2)); }
  std::uint32_t fixed32() noexcept { return static_cast<std::uint32_t>(fixed(4)); }
  std::uint64_t fixed64() noexcept { return fixed(8); }
  std::uint64_t varint() noexcept;
  /// A varint that must not exceed `max`.
  std::uint64_t varint_up_to(std::uint64_t max) noexcept;
  std::string_view raw(std::uint64_t size) noexcept;
  std::string_view string(std::uint64_t max_size) noexcept;

  /// Number of records that follow, each at least `min_record_bytes` long: refused when they cannot
  /// fit into what is left, so that nobody reserves memory for a size that is a lie.
  std::uint64_t count(std::uint64_t max, std::uint64_t min_record_bytes) noexcept;

  /// For decoders that find a value they cannot accept.
  void fail() noexcept {
    ok_ = false;
    bytes_ = {};
  }

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] std::size_t left() const noexcept { return bytes_.size(); }
  /// Everything was read and none of it was wrong.
  [[nodiscard]] bool at_end() const noexcept { return ok_ && bytes_.empty(); }

 private:
  std::uint64_t fixed(std::size_t width) noexcept;

  std::string_view bytes_;  // what is left
  bool ok_ = true;
};

}  // namespace weft::trace
