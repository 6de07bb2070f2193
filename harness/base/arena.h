// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A bump allocator over one mapping: for what lives exactly as long as an execution, or as a
// worker.
//
// Thread-safety: as for a plain object. Nothing is destroyed: only trivially destructible types may
// live here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "harness/base/bounded_vector.h"  // IWYU pragma: export
#include "harness/base/check.h"
#include "harness/base/fixed_vector.h"  // IWYU pragma: export
#include "harness/base/mapped_array.h"  // IWYU pragma: export
#include "harness/base/mapping.h"

namespace weft {

class Arena {
 public:
  // A position to come back to; valid until a rewind to an earlier one.
  struct Mark {
    std::size_t used = 0;
  };

  explicit Arena(std::size_t capacity_bytes) noexcept : memory_(capacity_bytes) {}

  // Zeroed bytes. Running out is an internal error: capacities are chosen so that it means a
  // runaway loop.
  void* allocate(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) noexcept {
    const std::size_t clean = high_water_;
    std::byte* const result = take(bytes, alignment);
    // Bytes beyond the high-water mark are still the kernel's zeros.
    const auto start = static_cast<std::size_t>(result - memory_.data());
    const std::size_t dirty_end = used_ < clean ? used_ : clean;
    if (start < dirty_end) std::memset(result, 0, dirty_end - start);
    return result;
  }

  template <typename T, typename... Args>
  T* make(Args&&... args) noexcept {
    static_assert(std::is_trivially_destructible_v<T>, "an arena destroys nothing");
    return ::new (static_cast<void*>(take(sizeof(T), alignof(T)))) T(std::forward<Args>(args)...);
  }

  template <typename T>
  std::span<T> make_array(std::size_t count) noexcept {
    static_assert(std::is_trivially_destructible_v<T>, "an arena destroys nothing");
    WEFT_CHECK(count <= memory_.size() / sizeof(T), "an arena is full: raise its capacity");
    T* items = reinterpret_cast<T*>(take(count * sizeof(T), alignof(T)));
    std::uninitialized_value_construct_n(items, count);
    return {items, count};
  }

  Mark mark() const noexcept { return {used_}; }
  void rewind(Mark mark) noexcept {
    WEFT_CHECK(mark.used <= used_, "a mark outlived an earlier rewind");
    used_ = mark.used;
  }
  void reset() noexcept { used_ = 0; }

  std::size_t used() const noexcept { return used_; }
  std::size_t capacity() const noexcept { return memory_.size(); }

 private:
  // Bytes of any value.
  std::byte* take(std::size_t bytes, std::size_t alignment) noexcept {
    const std::size_t start = round_up(used_, alignment);
    WEFT_CHECK(bytes <= memory_.size() && start <= memory_.size() - bytes,
               "an arena is full: raise its capacity");
    used_ = start + bytes;
    if (used_ > high_water_) high_water_ = used_;
    return memory_.data() + start;
  }

  Mapping memory_;
  std::size_t used_ = 0;
  std::size_t high_water_ = 0;  // bytes below may have been written since the kernel zeroed them
};

}  // namespace weft
