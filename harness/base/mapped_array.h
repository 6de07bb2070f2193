// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// An array whose length is fixed when it is made and whose memory comes from the kernel, zeroed.
// Every index is checked. Thread-safety: as for a plain array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "harness/base/check.h"
#include "harness/base/mapping.h"

namespace weft {

template <typename T>
class MappedArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>,
                "elements start as zero bytes and are never destroyed");

 public:
  MappedArray() noexcept = default;
  // `count` elements, all bytes zero; pages are taken from the kernel when first touched.
  explicit MappedArray(std::size_t count) noexcept : memory_(bytes_for(count)), count_(count) {}

  MappedArray(MappedArray&& other) noexcept
      : memory_(std::move(other.memory_)), count_(std::exchange(other.count_, 0)) {}
  MappedArray& operator=(MappedArray&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(count_, other.count_);
    return *this;
  }

  T& operator[](std::size_t index) noexcept {
    WEFT_CHECK(index < count_, "index past the end of a MappedArray");
    return data()[index];
  }
  const T& operator[](std::size_t index) const noexcept {
    WEFT_CHECK(index < count_, "index past the end of a MappedArray");
    return data()[index];
  }

  T* data() const noexcept { return reinterpret_cast<T*>(memory_.data()); }
  T* begin() const noexcept { return data(); }
  T* end() const noexcept { return data() + count_; }
  std::size_t size() const noexcept { return count_; }
  std::span<T> span() const noexcept { return {data(), count_}; }

  // All bytes zero again; gives the memory back to the kernel.
  void discard() noexcept { memory_.discard(); }

 private:
  static std::size_t bytes_for(std::size_t count) noexcept {
    WEFT_CHECK(count <= PTRDIFF_MAX / sizeof(T), "a MappedArray larger than the address space");
    return count * sizeof(T);
  }

  Mapping memory_;
  std::size_t count_ = 0;
};

}  // namespace weft
