// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How often tasks that wait for a lock may be passed over: weft::bounded_bypass.
//
// Bounded bypass is a property of the lock, so the scheduler's favours must not count against it. A
// waiting task that could go on for kFairPatience steps in a row, and was not let, was kept
// waiting by the strategy, as no fair scheduler does; its wait begins anew when it next finds the
// lock taken. A gap shorter than that may be missed by a fair scheduler as well.
//
// Source: bounded bypass is from Burns, Fischer, Jackson, Lynch and Peterson, 'Data requirements
// for implementation of N-process mutual exclusion' (JACM 1982).
// Deviation: they assume that each process goes on after finitely many steps of the others, we
// after kFairPatience.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::engine {

/// Two tasks between two lock operations of theirs take a handful of steps; a strategy that leaves
/// a task out for good exceeds any number.
inline constexpr std::uint64_t kFairPatience = 64;

class BypassBounds {
 public:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  static constexpr std::size_t kMax = 64;

  void clear() noexcept {
    count_ = 0;
    everywhere_ = kNone;
    any_ = false;
  }
  /// Kept, for each step asks.
  [[nodiscard]] bool any() const noexcept { return any_; }

  void bound_all(std::uint64_t most) noexcept {
    everywhere_ = most;
    any_ = count_ != 0 || most != kNone;
  }
  /// False when there are too many. A later bound on one lock replaces an earlier one.
  bool bound(std::uintptr_t lock, std::uint64_t most) noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
      if (bounds_[i].lock == lock) {
        bounds_[i].most = most;
        return true;
      }
    }
    if (count_ == kMax) return false;
    bounds_[count_++] = {lock, most};
    any_ = true;
    return true;
  }

  /// A lock's own bound, else the one for all, else kNone.
  [[nodiscard]] std::uint64_t of(std::uintptr_t lock) const noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
      if (bounds_[i].lock == lock) return bounds_[i].most;
    }
    return everywhere_;
  }

 private:
  struct Bound {
    std::uintptr_t lock = 0;
    std::uint64_t most = 0;
  };
  Bound bounds_[kMax] = {};
  std::size_t count_ = 0;
  std::uint64_t everywhere_ = kNone;
  bool any_ = false;
};

}  // namespace weft::engine
