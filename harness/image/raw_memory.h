// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Copying and filling memory that belongs to the subject, without memcpy and memset: those names
// may be a sanitizer's, which would report the red zones between globals that we rightly overwrite.
#pragma once

#include <emmintrin.h>

#include <cstddef>

namespace weft::image {

inline void raw_copy(void* to, const void* from, std::size_t bytes) noexcept {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

inline void raw_fill(void* to, unsigned char value, std::size_t bytes) noexcept {
  asm volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(value) : "memory");
}

// Makes `to` equal to `from` and returns how many bytes were written. Only blocks that differ are
// written: reading two equal ranges is cheaper than dirtying the cache lines of one, and between
// two executions nearly all of them are equal. segments_bench.cc has the measurement.
inline std::size_t restore_changed(void* to, const void* from, std::size_t bytes) noexcept {
  constexpr std::size_t kBlock = 64;  // a cache line
  auto* target = static_cast<char*>(to);
  const auto* source = static_cast<const char*>(from);
  std::size_t written = 0;
  std::size_t offset = 0;
  for (; offset + kBlock <= bytes; offset += kBlock) {
    __m128i difference = _mm_setzero_si128();
    for (std::size_t part = 0; part < kBlock; part += sizeof(__m128i)) {
      const __m128i current =
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(target + offset + part));
      const __m128i wanted =
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + offset + part));
      difference = _mm_or_si128(difference, _mm_xor_si128(current, wanted));
    }
    const __m128i equal_bytes = _mm_cmpeq_epi8(difference, _mm_setzero_si128());
    if (_mm_movemask_epi8(equal_bytes) == 0xffff) continue;
    for (std::size_t part = 0; part < kBlock; part += sizeof(__m128i)) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(target + offset + part),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + offset + part)));
    }
    written += kBlock;
  }
  if (offset < bytes) {
    raw_copy(target + offset, source + offset, bytes - offset);
    written += bytes - offset;
  }
  return written;
}

}  // namespace weft::image
