// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Which blocks of an execution nothing refers to any more. Conservative, as
// every collector for C++ is: a word that looks like an address of a block, of
// its first byte or any other, keeps the block and what it refers to.
//
// Use: scan() each root once every task has ended, then for_each_leak().
//
// Thread-safety: the controller only, between tasks' end and the heap's reset.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/base/bounded_vector.h"
#include "harness/base/flat_map.h"
#include "harness/image/subject_heap.h"

namespace weft::image {

class LeakSearch {
 public:
  explicit LeakSearch(const SubjectHeap& heap) noexcept;

  void scan(const void* begin, const void* end) noexcept;

  /// visit(BlockView), by class and index.
  template <typename Visitor>
  void for_each_leak(Visitor&& visit) const noexcept {
    heap_.leaks([&](const BlockView& block) {
      if (!reached_.contains(reinterpret_cast<std::uintptr_t>(block.address))) visit(block);
    });
  }

 private:
  static constexpr std::size_t kMaxWaiting = std::size_t{1} << 24;

  void reach(std::uintptr_t word) noexcept;
  void look_at(const std::byte* begin, const std::byte* end) noexcept;

  const SubjectHeap& heap_;
  FlatMap<std::uint8_t> reached_;                  // by address of the first byte
  BoundedVector<BlockView> waiting_{kMaxWaiting};  // reached and not looked into
};

}  // namespace weft::image
