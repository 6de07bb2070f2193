// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How many contested operations (Progress) an execution of this program has, learnt from the ones
// before: PCT's step bound k, and the scale of the gaps between considered plain accesses.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft::strategies {

class LengthEstimate {
 public:
  /// Before anything is known. The classic two-thread bugs have 4 to 30
  /// contested operations; a wrong guess costs one execution.
  static constexpr std::uint64_t kFirstGuess = 16;

  /// Grows at once, shrinks by an eighth of the excess: change points beyond the
  /// end are wasted, but so is a tail that is never preempted, and one runaway
  /// execution (a spin until the step cap) must not spoil all that follow.
  void observe(std::uint64_t operations) noexcept {
    if (operations == 0) return;
    if (operations >= length_) {
      length_ = operations;
    } else {
      length_ -= (length_ - operations) / 8;
    }
  }

  [[nodiscard]] std::uint64_t operations() const noexcept {
    return length_ == 0 ? kFirstGuess : length_;
  }

  /// The widest gap between considered plain accesses worth drawing, as a power
  /// of two: about eight considered accesses in an execution.
  [[nodiscard]] unsigned widest_gap_log2() const noexcept {
    const auto bits = static_cast<unsigned>(std::bit_width(operations()));
    return bits <= 5 ? 2 : bits - 3 < kWidestGapLog2 ? bits - 3 : kWidestGapLog2;
  }
  static constexpr unsigned kWidestGapLog2 = 20;

  std::size_t save(unsigned char* buffer, std::size_t capacity) const noexcept {
    const std::uint64_t words[2] = {kFormat, length_};
    if (capacity < sizeof words) return 0;
    std::memcpy(buffer, words, sizeof words);
    return sizeof words;
  }
  /// Nothing saved is nothing learnt.
  bool load(const unsigned char* buffer, std::size_t size) noexcept {
    std::uint64_t words[2] = {kFormat, 0};
    if (size != 0 && size != sizeof words) return false;
    if (size != 0) std::memcpy(words, buffer, sizeof words);
    if (words[0] != kFormat) return false;
    length_ = words[1];
    return true;
  }

 private:
  static constexpr std::uint64_t kFormat = 0x31'6874'676e'656c;  // "length1"

  std::uint64_t length_ = 0;  // 0: nothing learnt
};

}  // namespace weft::strategies
