// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Prior art 1: a context carried by every tensor, and beside it a getter of the global one, which
// is shorter to write than to pass the tensor's.
//
// Costs: a counted reference to a context, taken and given back, for each tensor that is made and
// dropped (benchmark context/tensor_carries: 21 times what the runtime's context/runtime takes); a
// counted reference under a lock for each use of the getter (context/tensor_getter: 30 times).
// More where threads meet. How it is measured: docs/prior-art.md.
// Breaks: an operation that takes half of what it needs from its operand and the other half from
// the getter mixes two contexts, as soon as somebody changes the global one
// (prior_art/tensor_context.buggy: always, memory freed by another allocator than it came from).
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

#include "scenarios/prior_art/allocator.h"

namespace weft::prior_art {

struct TensorContext {
  Allocator allocator;
};
using TensorContextPtr = std::shared_ptr<const TensorContext>;

/// Attractive: every function can reach it.
class GlobalContext {
 public:
  static TensorContextPtr get() {
    const std::lock_guard lock(mutex());
    return pointer();
  }
  static void set(TensorContextPtr next) {
    const std::lock_guard lock(mutex());
    pointer().swap(next);
  }

 private:
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  static TensorContextPtr& pointer() {
    static TensorContextPtr instance =
        std::make_shared<const TensorContext>(TensorContext{kMarked<1>});
    return instance;
  }
};

class Tensor {
 public:
  static constexpr std::size_t kBytes = 16;

  explicit Tensor(TensorContextPtr context)
      : context_(std::move(context)), memory_(context_->allocator.allocate(kBytes)) {}
  /// Of memory that the caller took from somewhere.
  Tensor(TensorContextPtr context, void* memory) : context_(std::move(context)), memory_(memory) {}
  ~Tensor() { context_->allocator.deallocate(memory_); }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  [[nodiscard]] const TensorContextPtr& context() const { return context_; }

 private:
  TensorContextPtr context_;
  void* memory_;
};

/// A tensor like the operand: its context, and memory from the getter's.
inline Tensor empty_like_by_getter(const Tensor& operand) {
  return {operand.context(), GlobalContext::get()->allocator.allocate(Tensor::kBytes)};
}

/// The same, all of it by the operand.
inline Tensor empty_like(const Tensor& operand) { return Tensor(operand.context()); }

}  // namespace weft::prior_art
