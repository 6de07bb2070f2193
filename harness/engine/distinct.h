// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The worker's half of the estimate of distinct schedules: HyperLogLog's update
// (Flajolet, Fusy, Gandouet, Meunier, AofA 2007).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace weft::engine {

/// Enters `digest` into `registers`, whose number is a power of two.
inline void count_distinct(std::span<std::uint8_t> registers, std::uint64_t digest) noexcept {
  const auto index_bits = static_cast<unsigned>(std::countr_zero(registers.size()));
  const std::size_t index = digest >> (64 - index_bits);
  // The sentinel bit bounds the rank where all remaining bits are zero.
  const std::uint64_t rest = (digest << index_bits) | (std::uint64_t{1} << (index_bits - 1));
  const auto rank = static_cast<std::uint8_t>(std::countl_zero(rest) + 1);
  if (rank > registers[index]) registers[index] = rank;
}

}  // namespace weft::engine
