// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Text built in place, without malloc and without stdio: for messages written from inside a worker
// process, where both may belong to the subject.
//
// TextBuffer formats into storage that somebody else owns; FixedText<N> owns its storage. What does
// not fit is cut off and remembered in truncated(). Not thread-safe.
//
// Invariants: 1. text_[size_] is NUL, so c_str() is always valid. 2. size_ < capacity_.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace weft {

class TextBuffer {
 public:
  // `storage` must hold at least the final NUL.
  explicit TextBuffer(std::span<char> storage) noexcept
      : text_(storage.data()), capacity_(storage.size()) {
    text_[0] = '\0';
  }
  TextBuffer(const TextBuffer&) = delete;
  TextBuffer& operator=(const TextBuffer&) = delete;

  TextBuffer& append(std::string_view text) noexcept {
    const std::size_t room = capacity_ - 1 - size_;
    const std::size_t taken = text.size() <= room ? text.size() : room;
    if (taken != 0) std::memcpy(text_ + size_, text.data(), taken);
    size_ += taken;
    text_[size_] = '\0';
    truncated_ |= taken != text.size();
    return *this;
  }
  TextBuffer& append(char character) noexcept { return append(std::string_view(&character, 1)); }

  TextBuffer& append_uint(std::uint64_t value) noexcept {
    char digits[20];  // 2^64 - 1 has 20 decimal digits
    std::size_t first = sizeof digits;
    do {
      digits[--first] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
    return append(std::string_view(digits + first, sizeof digits - first));
  }

  // "1 byte", "2 bytes".
  TextBuffer& append_bytes(std::uint64_t count) noexcept {
    return append_uint(count).append(count == 1 ? " byte" : " bytes");
  }

  TextBuffer& append_int(std::int64_t value) noexcept {
    if (value >= 0) return append_uint(static_cast<std::uint64_t>(value));
    // Negated as unsigned, for the smallest value has no positive counterpart.
    return append('-').append_uint(0 - static_cast<std::uint64_t>(value));
  }

  // Hexadecimal with the 0x prefix, padded with zeros to `digits` digits.
  TextBuffer& append_hex(std::uint64_t value, unsigned digits = 1) noexcept {
    char text[16];
    std::size_t first = sizeof text;
    do {
      text[--first] = "0123456789abcdef"[value % 16];
      value /= 16;
    } while (value != 0 || (sizeof text - first < digits && first != 0));
    return append("0x").append(std::string_view(text + first, sizeof text - first));
  }

  // Overwrites the last characters, to mark a text that was cut off.
  void replace_tail(std::string_view mark) noexcept {
    if (mark.size() > size_) return;
    std::memcpy(text_ + size_ - mark.size(), mark.data(), mark.size());
  }

  // Ends the text with a newline, at the cost of its last character when it is full.
  void append_final_newline() noexcept {
    if (size_ + 1 == capacity_ && size_ != 0) --size_;
    append('\n');
  }

  void clear() noexcept {
    size_ = 0;
    truncated_ = false;
    text_[0] = '\0';
  }

  std::string_view view() const noexcept { return {text_, size_}; }
  const char* c_str() const noexcept { return text_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  bool truncated() const noexcept { return truncated_; }

 private:
  char* text_;
  std::size_t capacity_;
  std::size_t size_ = 0;
  bool truncated_ = false;
};

namespace detail {
template <std::size_t N>
struct TextStorage {
  char characters[N];
};
}  // namespace detail

// N counts the final NUL. The storage is a base class so that it exists before the buffer that
// writes to it.
template <std::size_t N>
class FixedText : private detail::TextStorage<N>, public TextBuffer {
 public:
  static_assert(N >= 2, "a text holds at least one character and its NUL");
  FixedText() noexcept : TextBuffer(std::span<char>(this->characters)) {}
};

}  // namespace weft
