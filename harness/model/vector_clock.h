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
class VectorClock {
 public:
  [[nodiscard]] std::uint64_t operator[](TaskIndex task) const noexcept {
    return task < size_ ? components()[task] : 0;
  }

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  void clear() noexcept { size_ = 0; }
  /// The same for a new execution: what the arena gave is gone.
  void forget() noexcept { size_ = capacity_ = 0; }

  void raise(TaskIndex task, std::uint64_t component, Arena& arena) noexcept {
    if (task >= size_) resize(std::uint32_t{task} + 1, arena);
    std::uint64_t& known = components()[task];
    if (known < component) known = component;
  }

  void join(const VectorClock& other, Arena& arena) noexcept {
    if (other.size_ > size_) resize(other.size_, arena);
    std::uint64_t* const into = components();
    const std::uint64_t* const from = other.components();
    for (std::uint32_t i = 0; i < other.size_; ++i) {
      if (into[i] < from[i]) into[i] = from[i];
    }
  }

  void assign(const VectorClock& other, Arena& arena) noexcept {
    if (other.size_ > size_) {
      resize(other.size_, arena);
    } else {
      size_ = other.size_;
    }
    std::uint64_t* const into = components();
    const std::uint64_t* const from = other.components();
    for (std::uint32_t i = 0; i < other.size_; ++i) into[i] = from[i];
  }

 private:
  // Root, timer and two threads: what most tests have needs no memory but its own.
  static constexpr std::uint32_t kInline = 4;

  std::uint64_t* components() noexcept { return capacity_ == 0 ? inline_ : grown_; }
  const std::uint64_t* components() const noexcept { return capacity_ == 0 ? inline_ : grown_; }

  void resize(std::uint32_t size, Arena& arena) noexcept {
    const std::uint32_t capacity = capacity_ == 0 ? kInline : capacity_;
    if (size > capacity) grow(size, arena);
    std::uint64_t* const all = components();
    for (std::uint32_t i = size_; i < size; ++i) all[i] = 0;
    size_ = size;
  }
  __attribute__((noinline)) void grow(std::uint32_t size, Arena& arena) noexcept {
    const std::uint64_t* const old = components();
    const std::uint32_t capacity = 2 * size;
    const std::span<std::uint64_t> grown = arena.make_array<std::uint64_t>(capacity);
    std::memcpy(grown.data(), old, size_ * sizeof *old);
    grown_ = grown.data();
    capacity_ = capacity;
  }

  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;  // of grown_; 0: they are in inline_
  union {
    std::uint64_t inline_[kInline] = {};
    std::uint64_t* grown_;
  };
};

}  // namespace weft::model
