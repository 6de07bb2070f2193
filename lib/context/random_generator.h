// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>

namespace weftrt {

// A generator of random numbers that many threads may draw from: a seed, which is fixed, and a
// position, which each draw moves on. What is drawn at a position depends on the seed and the
// position alone, so that a draw is one atomic addition and no thread waits for another, and work
// that is spread over threads may reserve its positions beforehand and stay reproducible.
//
// Philox4x32-10: Salmon, Moraes, Dror, Shaw, 'Parallel Random Numbers: As Easy as 1, 2, 3', SC
// 2011, section 3.3. Of each block of 128 bits the first 64 are used.
//
// Thread-safety: drawing is const and may be done from any thread at any time. A copy is the same
// generator: it shares the position. Meets UniformRandomBitGenerator.
class RandomGenerator {
 public:
  // Arbitrary, and fixed, so that programs that never set a seed are reproducible.
  static constexpr std::uint64_t kDefaultSeed = 0x5745'4654;

  // At position 0.
  explicit RandomGenerator(std::uint64_t seed);
  RandomGenerator() : RandomGenerator(kDefaultSeed) {}

  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
  [[nodiscard]] std::uint64_t position() const noexcept {
    // relaxed, here and below: a counter, which publishes nothing.
    return position_->load(std::memory_order_relaxed);
  }

  // Moves on by `count` positions, which are then the caller's; returns the first of them.
  std::uint64_t reserve(std::uint64_t count) const noexcept {
    return position_->fetch_add(count, std::memory_order_relaxed);
  }
  // What is drawn at `position`.
  [[nodiscard]] std::uint64_t at(std::uint64_t position) const noexcept;

  std::uint64_t next() const noexcept { return at(reserve(1)); }
  // In [0, 1), a multiple of 2^-53.
  double next_uniform() const noexcept {
    return static_cast<double>(next() >> 11U) * (1.0 / static_cast<double>(1ULL << 53U));
  }

  using result_type = std::uint64_t;  // NOLINT(readability-identifier-naming): the standard's name
  static constexpr result_type min() noexcept { return 0; }
  static constexpr result_type max() noexcept { return std::numeric_limits<result_type>::max(); }
  result_type operator()() const noexcept { return next(); }

  // Equal: the two would draw the same from here on.
  friend bool operator==(const RandomGenerator& a, const RandomGenerator& b) noexcept {
    return a.seed_ == b.seed_ && (a.position_ == b.position_ || a.position() == b.position());
  }

 private:
  std::uint64_t seed_;
  std::shared_ptr<std::atomic<std::uint64_t>> position_;
};

namespace detail {

using PhiloxBlock = std::array<std::uint32_t, 4>;
[[nodiscard]] PhiloxBlock philox4x32_10(PhiloxBlock counter,
                                        std::array<std::uint32_t, 2> key) noexcept;

}  // namespace detail
}  // namespace weftrt
