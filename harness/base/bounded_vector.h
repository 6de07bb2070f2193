// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A vector whose capacity is given when it is made. Its memory comes from its own mapping or from
// memory that the caller provides (an Arena's, say) and never moves, so pointers to elements stay
// valid. Pushing past the capacity is an internal error.
//
// Thread-safety: as for a plain array. Invariant: size_ <= capacity_.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "harness/base/check.h"
#include "harness/base/mapping.h"

namespace weft {

template <typename T>
class BoundedVector {
 public:
  BoundedVector() noexcept = default;
  // Own mapping; pages are taken from the kernel when first touched, so a generous capacity is
  // cheap.
  explicit BoundedVector(std::size_t capacity) noexcept
      : memory_(bytes_for(capacity)), capacity_(capacity) {
    items_ = reinterpret_cast<T*>(memory_.data());
  }
  // In `storage`, which must be aligned for T and must outlive the vector.
  explicit BoundedVector(std::span<std::byte> storage) noexcept
      : items_(reinterpret_cast<T*>(storage.data())), capacity_(storage.size() / sizeof(T)) {
    WEFT_CHECK(reinterpret_cast<std::uintptr_t>(storage.data()) % alignof(T) == 0,
               "misaligned storage");
  }
  // Inside `arena`, anything with Arena's allocate(bytes, alignment).
  template <typename A>
  requires requires(A& arena) { arena.allocate(std::size_t{}, std::size_t{}); }
  BoundedVector(A& arena, std::size_t capacity) noexcept
      : items_(static_cast<T*>(arena.allocate(bytes_for(capacity), alignof(T)))),
        capacity_(capacity) {}

  BoundedVector(BoundedVector&& other) noexcept { swap(other); }
  BoundedVector& operator=(BoundedVector&& other) noexcept {
    swap(other);
    return *this;
  }
  ~BoundedVector() { clear(); }

  T& push_back(const T& value) noexcept { return emplace_back(value); }
  template <typename... Args>
  T& emplace_back(Args&&... args) noexcept {
    WEFT_CHECK(size_ < capacity_,
               "a BoundedVector is full: its bound is too small for this program");
    T* item = ::new (static_cast<void*>(items_ + size_)) T(std::forward<Args>(args)...);
    ++size_;
    return *item;
  }
  // For callers with a fallback: false when full.
  bool try_push_back(const T& value) noexcept {
    if (size_ == capacity_) return false;
    emplace_back(value);
    return true;
  }
  void pop_back() noexcept {
    WEFT_CHECK(size_ != 0, "pop from an empty BoundedVector");
    std::destroy_at(items_ + --size_);
  }
  // Keeps the order of the others.
  void erase_at(std::size_t index) noexcept {
    WEFT_CHECK(index < size_, "index past the end of a BoundedVector");
    for (std::size_t i = index + 1; i < size_; ++i) items_[i - 1] = std::move(items_[i]);
    pop_back();
  }
  // Grows with value-initialised elements, or drops the last ones.
  void resize(std::size_t size) noexcept {
    while (size_ > size) pop_back();
    while (size_ < size) emplace_back();
  }
  void clear() noexcept {
    std::destroy_n(items_, size_);
    size_ = 0;
  }

  T& operator[](std::size_t index) noexcept {
    WEFT_CHECK(index < size_, "index past the end of a BoundedVector");
    return items_[index];
  }
  const T& operator[](std::size_t index) const noexcept {
    WEFT_CHECK(index < size_, "index past the end of a BoundedVector");
    return items_[index];
  }
  T& back() noexcept { return (*this)[size_ - 1]; }
  const T& back() const noexcept { return (*this)[size_ - 1]; }

  T* data() noexcept { return items_; }
  const T* data() const noexcept { return items_; }
  T* begin() noexcept { return items_; }
  T* end() noexcept { return items_ + size_; }
  const T* begin() const noexcept { return items_; }
  const T* end() const noexcept { return items_ + size_; }

  std::size_t size() const noexcept { return size_; }
  std::size_t capacity() const noexcept { return capacity_; }
  bool empty() const noexcept { return size_ == 0; }
  bool full() const noexcept { return size_ == capacity_; }

 private:
  static std::size_t bytes_for(std::size_t capacity) noexcept {
    WEFT_CHECK(capacity <= PTRDIFF_MAX / sizeof(T),
               "a BoundedVector larger than the address space");
    return capacity * sizeof(T);
  }
  void swap(BoundedVector& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(items_, other.items_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  Mapping memory_;
  T* items_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace weft
