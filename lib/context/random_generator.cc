// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/context/random_generator.h"

namespace weftrt {

detail::PhiloxBlock detail::philox4x32_10(PhiloxBlock counter,
                                          std::array<std::uint32_t, 2> key) noexcept {
  // Multipliers and key increments: the paper's table 2 and section 3.3 (golden ratio, sqrt(3)-1).
  constexpr std::uint64_t kM0 = 0xD251'1F53;
  constexpr std::uint64_t kM1 = 0xCD9E'8D57;
  constexpr std::uint32_t kW0 = 0x9E37'79B9;
  constexpr std::uint32_t kW1 = 0xBB67'AE85;
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = kM0 * counter[0];
    const std::uint64_t product1 = kM1 * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32U) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32U) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product0)};
    key[0] += kW0;  // modulo 2^32, as the paper has it
    key[1] += kW1;
  }
  return counter;
}

RandomGenerator::RandomGenerator(std::uint64_t seed)
    : seed_(seed), position_(std::make_shared<std::atomic<std::uint64_t>>(0)) {}

std::uint64_t RandomGenerator::at(std::uint64_t position) const noexcept {
  const detail::PhiloxBlock block = detail::philox4x32_10(
      {static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(position >> 32U), 0, 0},
      {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32U)});
  return block[0] | (static_cast<std::uint64_t>(block[1]) << 32U);
}

}  // namespace weftrt
