// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How much of each task's past something knows of: one component per task.
//
// A component is the task's operation index, which grows with every operation
// and every plain access. So a clock names accesses exactly, and a task need
// not count its releases besides (FastTrack: Flanagan and Freund, PLDI 2009).
//
// Memory is an execution's arena; a clock is valid until the arena is reset.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "harness/base/arena.h"
#include "harness/base/ids.h"

namespace weft::model {

/// Zero bytes: a clock that knows nothing.
///
/// Invariant: while the components are inline, those beyond the size are 0, so that all can be
/// copied and compared without a look at the size.
class VectorClock {
 public:
  [[nodiscard]] std::uint64_t operator[](TaskIndex task) const noexcept {
    return task < size_ ? components()[task] : 0;
  }

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  void clear() noexcept {
    size_ = 0;
    if (is_inline()) std::memset(inline_, 0, sizeof inline_);
  }
  /// The same for a new execution: what the arena gave is gone.
  void forget() noexcept { *this = VectorClock{}; }

  void raise(TaskIndex task, std::uint64_t component, Arena& arena) noexcept {
    if (task >= size_) resize(std::uint32_t{task} + 1, arena);
    std::uint64_t& known = components()[task];
    if (known < component) known = component;
  }

  /// The same for a component that there is, and that is less.
  void renew(TaskIndex task, std::uint64_t component) noexcept { components()[task] = component; }

  void join(const VectorClock& other, Arena& arena) noexcept {
    if (is_inline() && other.is_inline()) [[likely]] {
      size_ = size_ < other.size_ ? other.size_ : size_;
      for (std::uint32_t i = 0; i < kInline; ++i)
        inline_[i] = inline_[i] < other.inline_[i] ? other.inline_[i] : inline_[i];
      return;
    }
    if (other.size_ > size_) resize(other.size_, arena);
    std::uint64_t* const into = components();
    const std::uint64_t* const from = other.components();
    for (std::uint32_t i = 0; i < other.size_; ++i) {
      if (into[i] < from[i]) into[i] = from[i];
    }
  }

  void assign(const VectorClock& other, Arena& arena) noexcept {
    if (is_inline() && other.is_inline()) [[likely]] {
      *this = other;
      return;
    }
    clear();
    resize(other.size_, arena);
    std::memcpy(components(), other.components(), size_ * sizeof(std::uint64_t));
  }

 private:
  // Root, timer and two threads: what most tests have needs no memory but its own.
  static constexpr std::uint32_t kInline = 4;

  [[nodiscard]] bool is_inline() const noexcept { return capacity_ == 0; }
  std::uint64_t* components() noexcept { return is_inline() ? inline_ : grown_; }
  const std::uint64_t* components() const noexcept { return is_inline() ? inline_ : grown_; }

  void resize(std::uint32_t size, Arena& arena) noexcept {
    if (!is_inline() || size > kInline) grow(size, arena);
    size_ = size;
  }
  __attribute__((noinline)) void grow(std::uint32_t size, Arena& arena) noexcept {
    if (is_inline() || size > capacity_) {
      const std::uint32_t capacity = 2 * size;
      const std::span<std::uint64_t> grown = arena.make_array<std::uint64_t>(capacity);
      std::memcpy(grown.data(), components(), size_ * sizeof(std::uint64_t));
      grown_ = grown.data();
      capacity_ = capacity;
    } else if (size > size_) {
      std::memset(grown_ + size_, 0, (size - size_) * sizeof(std::uint64_t));
    }
  }

  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;  // of grown_; 0: they are in inline_
  union {
    std::uint64_t inline_[kInline] = {};
    std::uint64_t* grown_;
  };
};

}  // namespace weft::model
