// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The subject heap's block sizes: multiples of 16 up to 128 bytes, four steps per doubling up to
// 64 KiB (at most a fifth of a block is slack), powers of two up to 1 GiB.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace weft::image {

inline constexpr std::size_t kSizeClasses = 58;
inline constexpr std::size_t kSmallestBlock = 16;
inline constexpr std::size_t kLargestBlock = std::size_t{1} << 30;

// The class whose blocks are the smallest that hold `size` bytes, 0 < size <= kLargestBlock.
constexpr std::uint32_t size_class_of(std::size_t size) noexcept {
  const std::size_t last = size - 1;
  if (size <= 128) return static_cast<std::uint32_t>(last / kSmallestBlock);
  const auto log = static_cast<std::uint32_t>(std::bit_width(last) - 1);
  if (size <= 65536) return 8 + (log - 7) * 4 + static_cast<std::uint32_t>(last >> (log - 2) & 3);
  return 44 + (log - 16);
}

constexpr std::size_t compute_block_bytes(std::uint32_t size_class) noexcept {
  if (size_class < 8) return (size_class + 1) * kSmallestBlock;
  if (size_class < 44) {
    const std::uint32_t log = 7 + (size_class - 8) / 4;
    return std::size_t{5 + (size_class - 8) % 4} << (log - 2);
  }
  return std::size_t{2} << (16 + size_class - 44);
}

inline constexpr auto kBlockBytes = [] {
  std::array<std::uint32_t, kSizeClasses> bytes{};
  for (std::uint32_t c = 0; c < kSizeClasses; ++c) {
    bytes[c] = static_cast<std::uint32_t>(compute_block_bytes(c));
  }
  return bytes;
}();

// offset / block size, for offsets below 2^32: multiplication by ceil(2^64 / size) and taking the
// high word is exact there (Granlund and Montgomery, PLDI 1994, theorem 4.2 with l = 32).
class BlockDivider {
 public:
  constexpr explicit BlockDivider(std::uint32_t divisor) noexcept
      : multiplier_(~std::uint64_t{0} / divisor + 1) {}
  constexpr std::uint32_t quotient(std::uint32_t offset) const noexcept {
    return static_cast<std::uint32_t>((Product{multiplier_} * offset) >> 64);
  }

 private:
  __extension__ using Product = unsigned __int128;
  std::uint64_t multiplier_;
};

inline constexpr auto kBlockDividers = []<std::size_t... C>(std::index_sequence<C...>) {
  return std::array<BlockDivider, kSizeClasses>{BlockDivider(kBlockBytes[C])...};
}
(std::make_index_sequence<kSizeClasses>{});

}  // namespace weft::image
