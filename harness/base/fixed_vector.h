// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A vector of at most N elements stored in place. Trivially copyable, so that it may be part of
// saved state; never allocates; pushing past N is an internal error.
//
// Thread-safety: as for a plain array. Invariant: size_ <= N.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

#include "harness/base/check.h"

namespace weft {

template <typename T, std::size_t N>
class FixedVector {
  static_assert(N > 0);
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>,
                "elements are copied as bytes and never destroyed");

 public:
  // Leaves the storage as it is: a list of candidates is built at every schedule point, and
  // clearing N slots for the two that are used would dominate it.
  FixedVector() noexcept {
  }  // NOLINT(modernize-use-equals-default): `= default` would zero in `FixedVector{}`

  T& push_back(const T& value) noexcept {
    WEFT_CHECK(size_ < N, "a FixedVector is full: its bound is too small for this program");
    return *::new (static_cast<void*>(data() + size_++)) T(value);
  }
  // For callers with a fallback: false when full.
  bool try_push_back(const T& value) noexcept {
    if (size_ == N) return false;
    push_back(value);
    return true;
  }
  void pop_back() noexcept {
    WEFT_CHECK(size_ != 0, "pop from an empty FixedVector");
    --size_;
  }
  // Keeps the order of the others.
  void erase_at(std::size_t index) noexcept {
    WEFT_CHECK(index < size_, "index past the end of a FixedVector");
    for (std::size_t i = index + 1; i < size_; ++i) data()[i - 1] = data()[i];
    --size_;
  }
  void clear() noexcept { size_ = 0; }

  T& operator[](std::size_t index) noexcept {
    WEFT_CHECK(index < size_, "index past the end of a FixedVector");
    return data()[index];
  }
  const T& operator[](std::size_t index) const noexcept {
    WEFT_CHECK(index < size_, "index past the end of a FixedVector");
    return data()[index];
  }
  T& back() noexcept { return (*this)[size_ - 1]; }
  const T& back() const noexcept { return (*this)[size_ - 1]; }

  T* data() noexcept { return reinterpret_cast<T*>(storage_); }
  const T* data() const noexcept { return reinterpret_cast<const T*>(storage_); }
  T* begin() noexcept { return data(); }
  T* end() noexcept { return data() + size_; }
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return data() + size_; }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  bool full() const noexcept { return size_ == N; }
  static constexpr std::size_t capacity() noexcept { return N; }

 private:
  std::size_t size_ = 0;
  alignas(T) std::byte storage_[N * sizeof(T)];
};

}  // namespace weft
