// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A set of tasks as bits: creation order is bit order. Sized for the most tasks
// an execution may have; work is proportional to the words in use.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "harness/base/ids.h"
#include "harness/base/prng.h"
#include "harness/trace/channel.h"

namespace weft::engine {

class TaskSet {
 public:
  static constexpr std::size_t kWords = trace::kMaxTasks / 64;

  void clear() noexcept {
    for (std::size_t w = 0; w < used_; ++w) words_[w] = 0;
    used_ = 1;
    count_ = 0;
    hash_ = 0;
  }
  void assign(TaskIndex task, bool member) noexcept {
    const std::size_t w = task / 64;
    const std::uint64_t bit = std::uint64_t{1} << (task % 64);
    const bool was = (words_[w] & bit) != 0;
    if (was == member) return;
    words_[w] ^= bit;
    member ? ++count_ : --count_;
    if (w == 0) [[likely]] {
      hash_ ^= bit;
    } else {
      changed_beyond(task);
    }
  }
  [[nodiscard]] bool contains(TaskIndex task) const noexcept {
    return (words_[task / 64] >> (task % 64)) & 1;
  }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t low_word() const noexcept { return words_[0]; }
  /// Of the first 64 tasks it is the word itself. Kept, for it is asked more often than anything
  /// changes.
  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }

  /// The first member at or after `from`, or kNoTaskIndex.
  [[nodiscard]] TaskIndex next(std::size_t from) const noexcept {
    std::size_t w = from / 64;
    if (w >= used_) return kNoTaskIndex;
    std::uint64_t bits = words_[w] & (~std::uint64_t{0} << (from % 64));
    while (bits == 0) {
      if (++w >= used_) return kNoTaskIndex;
      bits = words_[w];
    }
    return static_cast<TaskIndex>(w * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
  }

  template <typename Visit>
  void for_each(Visit visit) const noexcept {
    for (std::size_t w = 0; w < used_; ++w) {
      for (std::uint64_t bits = words_[w]; bits != 0; bits &= bits - 1) {
        visit(static_cast<TaskIndex>(w * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
      }
    }
  }

 private:
  /// Of the words after the first.
  [[gnu::noinline]] void changed_beyond(TaskIndex task) noexcept {
    used_ = std::max(used_, std::size_t{task} / 64 + 1);
    hash_ ^= mix64(task);
  }

  std::uint64_t words_[kWords] = {};
  std::size_t used_ = 1;
  std::size_t count_ = 0;
  std::uint64_t hash_ = 0;
};

}  // namespace weft::engine
