// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Copying and filling memory that belongs to the subject, without memcpy and memset: those names
// may be a sanitizer's, which would report the red zones between globals that we rightly overwrite.
#pragma once

#include <emmintrin.h>

#include <cstddef>
#include <cstdint>

namespace weft::image {

// Up to here a loop of 16-byte moves beats the 30 cycles or so that `rep` takes to start.
inline constexpr std::size_t kShort = 512;

namespace detail {

// Fewer than 16 bytes: calls move(offset, a value of its size) for each of at most four parts.
template <typename Move>
inline void for_each_part(std::size_t bytes, Move move) noexcept {
  if (bytes == 0) return;
  std::size_t at = 0;
  if ((bytes & 8) != 0) move(at, std::uint64_t{}), at += 8;
  if ((bytes & 4) != 0) move(at, std::uint32_t{}), at += 4;
  if ((bytes & 2) != 0) move(at, std::uint16_t{}), at += 2;
  if ((bytes & 1) != 0) move(at, std::uint8_t{});
}

}  // namespace detail

[[gnu::no_sanitize_address]] inline void raw_copy(void* to, const void* from,
                                                  std::size_t bytes) noexcept {
  auto* target = static_cast<char*>(to);
  const auto* source = static_cast<const char*>(from);
  if (bytes > kShort) {
    asm volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(bytes) : : "memory");
    return;
  }
  const auto move = [&](std::size_t at) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(target + at),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + at)));
  };
  for (; bytes >= 4 * sizeof(__m128i); bytes -= 4 * sizeof(__m128i)) {
    for (std::size_t at = 0; at < 4 * sizeof(__m128i); at += sizeof(__m128i)) move(at);
    target += 4 * sizeof(__m128i);
    source += 4 * sizeof(__m128i);
    asm volatile("" : "+r"(target) : : "memory");  // or the compiler makes a memcpy of the loop
  }
  for (; bytes >= sizeof(__m128i); bytes -= sizeof(__m128i)) {
    move(0);
    target += sizeof(__m128i);
    source += sizeof(__m128i);
    asm volatile("" : "+r"(target) : : "memory");
  }
  detail::for_each_part(bytes, [&](std::size_t at, auto value) {
    __builtin_memcpy(&value, source + at, sizeof value);
    __builtin_memcpy(target + at, &value, sizeof value);
  });
}

[[gnu::no_sanitize_address]] inline void raw_fill(void* to, unsigned char value,
                                                  std::size_t bytes) noexcept {
  auto* target = static_cast<char*>(to);
  if (bytes > kShort) {
    asm volatile("rep stosb" : "+D"(target), "+c"(bytes) : "a"(value) : "memory");
    return;
  }
  const __m128i pattern = _mm_set1_epi8(static_cast<char>(value));
  for (; bytes >= sizeof(__m128i); bytes -= sizeof(__m128i)) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(target), pattern);
    target += sizeof(__m128i);
    asm volatile("" : "+r"(target) : : "memory");  // or the compiler makes a memset of the loop
  }
  detail::for_each_part(bytes, [&](std::size_t at, auto part) {
    __builtin_memcpy(&part, &pattern, sizeof part);
    __builtin_memcpy(target + at, &part, sizeof part);
  });
}

// Makes `to` equal to `from` and returns how many bytes were written; blocks that are equal already
// are not written.
//
// Why compare and copy, and not something cleverer. Measured on a 2-core virtual machine with slow
// system calls, 8 of the pages dirtied, microseconds per restore:
//
//                                       16 KB   64 KB   200 KB   1 MB
//   this                                 0.5     1.8      5.5     28
//   memcpy                               0.2     1.2      4.5     25
//   rep movsb                            0.2     1.2      9.7     98
//   page protection and SIGSEGV          8.6     49       52      52
//   soft-dirty bits of /proc             9.4     10       11      15
//   userfaultfd write-protect, async,
//   with PAGEMAP_SCAN                    3.3     7.6      6.4     6.8
//
// The writable segments of a test program with libstdc++ are 20 to 100 KB, where nothing that
// enters the kernel can win. A plain copy is a little faster but makes every page of the image a
// private one in each forked worker, and every cache line of it dirty in each execution.
[[gnu::no_sanitize_address]] inline std::size_t restore_changed(void* to, const void* from,
                                                                std::size_t bytes) noexcept {
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
  char difference = 0;
  for (std::size_t at = offset; at < bytes; ++at)
    difference = static_cast<char>(difference | (target[at] ^ source[at]));
  if (difference == 0) return written;
  raw_copy(target + offset, source + offset, bytes - offset);
  return written + (bytes - offset);
}

}  // namespace weft::image
