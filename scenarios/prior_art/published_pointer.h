// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Prior art 5: one atomic pointer to an immutable value. The question is who frees what was
// replaced.
//
// Costs: two dependent loads for either of the first two; for std::atomic<std::shared_ptr> a lock
// bit and a counter that all readers write.
// Breaks: Leaky keeps every value there ever was; Eager frees under a reader's eyes
// (published_pointer.cc). Shared breaks nothing, and its readers wait for each other and for
// writers.
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
