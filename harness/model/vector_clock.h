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

#include "harness/base/arena.h"
#include "harness/base/ids.h"

namespace weft::model {

class VectorClock {
 public:
  [[nodiscard]] std::uint64_t operator[](TaskIndex task) const noexcept {
    return task < size_ ? components_[task] : 0;
  }

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  void clear() noexcept { size_ = 0; }

  void raise(TaskIndex task, std::uint64_t component, Arena& arena) noexcept {
    if (task >= size_) resize(std::uint32_t{task} + 1, arena);
    if (components_[task] < component) components_[task] = component;
  }

  void join(const VectorClock& other, Arena& arena) noexcept {
    if (other.size_ > size_) resize(other.size_, arena);
    for (std::uint32_t i = 0; i < other.size_; ++i) {
      if (components_[i] < other.components_[i]) components_[i] = other.components_[i];
    }
  }

  void assign(const VectorClock& other, Arena& arena) noexcept {
    clear();
    join(other, arena);
  }

 private:
  void resize(std::uint32_t size, Arena& arena) noexcept {
    if (size > capacity_) {
      capacity_ = size < 8 ? 8 : 2 * size;
      const std::span<std::uint64_t> grown = arena.make_array<std::uint64_t>(capacity_);
      if (size_ != 0) std::memcpy(grown.data(), components_, size_ * sizeof *components_);
      components_ = grown.data();
    }
    std::memset(components_ + size_, 0, (size - size_) * sizeof *components_);
    size_ = size;
  }

  std::uint64_t* components_ = nullptr;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;
};

}  // namespace weft::model
