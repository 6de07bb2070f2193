// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The alternative to the runtime's dispatch table of immutable snapshots: one table for all, read
// without synchronisation, written rarely and under a lock, resized by publishing a larger array.
//
// Costs: a look-up is two dependent loads, as in a snapshot (benchmark table/growing: what the
// runtime's table/runtime takes); adding copies nothing, but when it grows
// (table/growing_add: 0.1 of table/runtime_register, which publishes a whole new context). How it
// is measured: docs/prior-art.md.
// Breaks: an array that grew may still have readers, so that it must be kept (kFrees: it is not;
// prior_art/growing_table_resized.buggy: use_after_free or data_race); and what is registered is
// there at once for everybody, so that two look-ups of one piece of work may disagree
// (prior_art/growing_table_seen_early.buggy: assertion), unless the work takes a copy along
// (table/growing_copy: 44 times a look-up, of a table of 8).
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace weft::prior_art {

using Function = int (*)(int);

/// What was in a table at one moment, and does not change: what a piece of work may plan with.
class TableCopy {
 public:
  void add(Function function) { functions_.push_back(function); }
  [[nodiscard]] Function find(std::size_t index) const {
    return index < functions_.size() ? functions_[index] : nullptr;
  }

 private:
  std::vector<Function> functions_;
};

template <bool kFrees>
class GrowingTable {
 public:
  explicit GrowingTable(std::size_t capacity) : array_(new Array(capacity)) {}
  ~GrowingTable() { delete array_.load(std::memory_order_relaxed); }
  GrowingTable(const GrowingTable&) = delete;
  GrowingTable& operator=(const GrowingTable&) = delete;

  /// nullptr where there is none.
  [[nodiscard]] Function find(std::size_t index) const {
    // acquire: pairs with the release in add(): the array is whole.
    const Array& array = *array_.load(std::memory_order_acquire);
    // relaxed: a function was there before its pointer is.
    return index < array.size() ? array[index].load(std::memory_order_relaxed) : nullptr;
  }

  /// The repair: work takes a copy along, as large as the table.
  [[nodiscard]] TableCopy copy() const {
    const Array& array = *array_.load(std::memory_order_acquire);
    TableCopy copied;
    for (const std::atomic<Function>& function : array)
      copied.add(function.load(std::memory_order_relaxed));
    return copied;
  }

  void add(std::size_t index, Function function) {
    const std::lock_guard lock(mutex_);
    Array* array = array_.load(std::memory_order_relaxed);
    if (index >= array->size()) {
      auto longer = std::make_unique<Array>(2 * index + 1);
      for (std::size_t i = 0; i < array->size(); ++i)
        (*longer)[i].store((*array)[i].load(std::memory_order_relaxed), std::memory_order_relaxed);
      Array* const shorter = std::exchange(array, longer.release());
      array_.store(array, std::memory_order_release);
      if constexpr (kFrees) {
        delete shorter;
      } else {
        outgrown_.emplace_back(shorter);
      }
    }
    (*array)[index].store(function, std::memory_order_relaxed);
  }

 private:
  using Array = std::vector<std::atomic<Function>>;

  std::mutex mutex_;
  std::atomic<Array*> array_;
  std::vector<std::unique_ptr<Array>> outgrown_;  // some reader may be in one
};

}  // namespace weft::prior_art
