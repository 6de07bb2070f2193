// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Prior art 5: one atomic pointer to an immutable value. The question is who frees what was
// replaced.
//
// Costs: two dependent loads for either of the first two (benchmarks context/published_leaky and
// context/published_eager: 0.7 of what the runtime's context/runtime takes, which goes by the
// thread's own record and can therefore tell it when to let go); for std::atomic<std::shared_ptr> a
// lock bit and a counter that all readers write (context/published_shared: 27 times, and 36 to 48
// with two threads). How it is measured: docs/prior-art.md.
// Breaks: Leaky keeps every value there ever was (prior_art/published_pointer_leaky.buggy: leak);
// Eager frees under a reader's eyes (prior_art/published_pointer_eager.buggy: data_race, and under
// AddressSanitizer use_after_free). Shared breaks nothing of its user's
// (prior_art/published_pointer.fixed), and its readers wait for each other and for writers.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "scenarios/prior_art/allocator.h"

namespace weft::prior_art {

template <bool kFrees>
class PublishedPointer {
 public:
  explicit PublishedPointer(Allocator initial) : value_(new Allocator(initial)) {}
  ~PublishedPointer() { delete value_.load(std::memory_order_relaxed); }
  PublishedPointer(const PublishedPointer&) = delete;
  PublishedPointer& operator=(const PublishedPointer&) = delete;

  void set(Allocator next) {
    // release: pairs with the acquire in read(): the value is whole. acquire: for the delete.
    const Allocator* const replaced =
        value_.exchange(new Allocator(next), std::memory_order_acq_rel);
    if constexpr (kFrees) delete replaced;
  }
  template <class Use>
  auto read(Use use) const {
    return use(*value_.load(std::memory_order_acquire));
  }

 private:
  std::atomic<const Allocator*> value_;
};
using Leaky = PublishedPointer<false>;
using Eager = PublishedPointer<true>;

class Shared {
 public:
  explicit Shared(Allocator initial) : value_(std::make_shared<const Allocator>(initial)) {}

  void set(Allocator next) { value_.store(std::make_shared<const Allocator>(next)); }
  template <class Use>
  auto read(Use use) const {
    return use(*value_.load());
  }

 private:
  std::atomic<std::shared_ptr<const Allocator>> value_;
};

}  // namespace weft::prior_art
