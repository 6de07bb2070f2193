// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The memory that tasks map for themselves.
//
// A library with a heap of its own (tbbmalloc, jemalloc) maps it in one execution and keeps it in
// its variables, which the next execution finds as they were before. What would be left over is
// unmapped in between: the next mapping then lies where this one lay, and a long exploration does
// not grow.
//
// Thread-safety: none; tasks, or the controller between executions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/base/fixed_vector.h"

namespace weft::intercept {

class TaskMappings {
 public:
  /// What comes on top is left mapped.
  static constexpr std::size_t kMost = 16384;

  void add(std::uintptr_t begin, std::size_t size) noexcept;
  /// Somebody has unmapped, or mapped anew, what lies there.
  void remove(std::uintptr_t begin, std::size_t size) noexcept;
  void unmap_all() noexcept;
  [[nodiscard]] bool empty() const noexcept { return ranges_.empty(); }

 private:
  struct Range {
    std::uintptr_t begin;
    std::uintptr_t end;
  };
  FixedVector<Range, kMost> ranges_;
};

}  // namespace weft::intercept
