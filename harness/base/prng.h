// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Pseudo-random numbers and hash mixing: the same on every machine, compiler and standard library,
// which <random>'s distributions are not. A seed in a replay token must give the same schedule
// everywhere.
//
// Thread-safety: none; each strategy owns its generator. All of it is constexpr and trivially
// copyable, so that a strategy's state can be saved as bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "harness/base/check.h"

namespace weft {

// The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014; constants by Stafford, "Mix13"): a
// bijection in which every input bit changes about half of the output bits.
constexpr std::uint64_t mix64(std::uint64_t value) noexcept {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// 2^64 divided by the golden ratio, odd: steps through all 2^64 values.
inline constexpr std::uint64_t kGoldenGamma = 0x9e3779b97f4a7c15u;

// FNV-1a with a final mix, for short names. Cryptographic strength is not meant.
constexpr std::uint64_t hash_text(const char* text, std::size_t size) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < size; ++i)
    hash = (hash ^ static_cast<unsigned char>(text[i])) * 0x100000001b3u;
  return mix64(hash);
}

// SplitMix64: one word of state. Turns a seed of any quality into well-mixed words.
class SplitMix64 {
 public:
  constexpr explicit SplitMix64(std::uint64_t seed) noexcept : state_(seed) {}
  constexpr std::uint64_t next() noexcept { return mix64(state_ += kGoldenGamma); }

 private:
  std::uint64_t state_;
};

// xoshiro256** 1.0 (Blackman and Vigna, 2018), seeded through SplitMix64 as its authors advise.
class Prng {
 public:
  constexpr explicit Prng(std::uint64_t seed) noexcept {
    SplitMix64 words(seed);
    for (std::uint64_t& word : state_) word = words.next();
  }

  constexpr std::uint64_t next() noexcept {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Uniform in [0, bound), without bias: Lemire, "Fast random integer generation in an interval"
  // (2019), algorithm 5.
  [[gnu::always_inline]] constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    WEFT_CHECK(bound != 0, "a choice among no candidates: the caller's set of candidates is empty");
    Product product = Product{next()} * bound;
    if (static_cast<std::uint64_t>(product) < bound) [[unlikely]] {
      const std::uint64_t threshold = (0 - bound) % bound;
      while (static_cast<std::uint64_t>(product) < threshold) product = Product{next()} * bound;
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

  // Uniform in [first, last], both included.
  constexpr std::uint64_t between(std::uint64_t first, std::uint64_t last) noexcept {
    WEFT_CHECK(first <= last, "an empty interval");
    return last - first == ~std::uint64_t{0} ? next() : first + below(last - first + 1);
  }

  // Uniform in [0, 1), a multiple of 2^-53.
  constexpr double unit() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }

  // True with probability `probability`; always consumes one word, so that tuning a probability to
  // 0 or 1 does not shift the numbers that follow.
  constexpr bool chance(double probability) noexcept { return unit() < probability; }

  // An independent generator for a sub-purpose: the same parent state and label give the same
  // child.
  constexpr Prng split(std::uint64_t label) noexcept {
    return Prng(next() ^ mix64(label + kGoldenGamma));
  }

 private:
  __extension__ using Product = unsigned __int128;

  std::uint64_t state_[4]{};
};

}  // namespace weft
