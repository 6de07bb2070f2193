// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Prior art 2: plain process globals, each atomic by itself, and a registry of flags by name.
//
// Costs: a load for a global, the least there is (benchmark context/two_globals: 0.7 of what the
// runtime's context/runtime takes; so does the repair, context/one_global); a lock and a search for
// a flag by name (context/flag_by_name: 31 times). How it is measured: docs/prior-art.md.
// Breaks: two globals that belong together are read apart (prior_art/process_globals.buggy: always,
// one allocator's allocate and the other's deallocate); and two copies of a library that register
// the same flag share what each takes for its own, or end the process
// (prior_art/flag_registry.buggy: assertion).
#pragma once

#include <atomic>

#include "scenarios/prior_art/allocator.h"

namespace weft::prior_art {

class ProcessGlobals {
 public:
  explicit ProcessGlobals(Allocator initial)
      : allocate_(initial.allocate), deallocate_(initial.deallocate) {}

  // relaxed, here and below: pointers to functions, which publish nothing.
  void set(Allocator next) {
    allocate_.store(next.allocate, std::memory_order_relaxed);
    deallocate_.store(next.deallocate, std::memory_order_relaxed);
  }
  [[nodiscard]] Allocator get() const {
    return {allocate_.load(std::memory_order_relaxed), deallocate_.load(std::memory_order_relaxed)};
  }

 private:
  std::atomic<AllocateFn> allocate_;
  std::atomic<DeallocateFn> deallocate_;
};

/// The repair: one global, which leads to both.
class OneGlobal {
 public:
  explicit OneGlobal(const Allocator& initial) : pair_(&initial) {}

  /// `next` lives as long as the process.
  void set(const Allocator& next) {
    // release: pairs with the acquire in get(): a reader sees both functions.
    pair_.store(&next, std::memory_order_release);
  }
  [[nodiscard]] Allocator get() const { return *pair_.load(std::memory_order_acquire); }

 private:
  std::atomic<const Allocator*> pair_;
};

}  // namespace weft::prior_art
