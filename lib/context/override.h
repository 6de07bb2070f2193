// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "lib/context/context.h"

// A thread's own context, for a scope: until the guard ends, this thread reads what the guard
// installed and sees no global change. Overrides nest, and unwind in order also under exceptions.
//
// A managed thread inherits what its parent follows by sharing its cell (capture_context()): an
// update of an override reaches all threads that share it, as a global update reaches all others.
//
// Thread-safety: a guard stays on the thread that made it, which is checked. CapturedContext is a
// value that any thread may use.
//
// Invariants:
//  1. An override changes what its own thread, and those that inherit it, read; nobody else.
//  2. A guard's end brings back exactly the binding found at its start, global or outer override.
//  3. An override's cell lives as long as a guard or a capture refers to it.

namespace weftrt {

// What a thread follows, for another thread to follow too.
class CapturedContext {
 public:
  // The global context.
  CapturedContext() = default;

  [[nodiscard]] bool follows_global() const noexcept { return says_ == Says::kGlobal; }
  // Of a thread that had no context (binding.h). An override by it leaves what it finds.
  [[nodiscard]] bool has_nothing() const noexcept { return says_ == Says::kNothing; }

 private:
  friend CapturedContext capture_context();
  friend class ContextOverride;
  friend class detail::OverrideFrame;

  enum class Says : std::uint8_t { kNothing, kGlobal, kCell };

  explicit CapturedContext(Says says) noexcept : says_(says) {}
  explicit CapturedContext(std::shared_ptr<detail::ContextCell> cell) noexcept
      : says_(Says::kCell), cell_(std::move(cell)) {}

  Says says_ = Says::kGlobal;
  std::shared_ptr<detail::ContextCell> cell_;  // of kCell alone
};

// What the calling thread follows. Binds the thread if its next read would.
[[nodiscard]] CapturedContext capture_context();

namespace detail {

// One scope in which the thread follows another cell; the stack of them hangs from ContextSlot.
class OverrideFrame {
 public:
  explicit OverrideFrame(CapturedContext target);
  ~OverrideFrame();
  OverrideFrame(const OverrideFrame&) = delete;
  OverrideFrame& operator=(const OverrideFrame&) = delete;

  [[nodiscard]] const CapturedContext& target() const noexcept { return target_; }
  // Not of one that says nothing.
  [[nodiscard]] ContextCell& cell() const noexcept { return *cell_; }
  [[nodiscard]] const OverrideFrame* outer() const noexcept { return outer_; }

 private:
  CapturedContext target_;
  ContextCell* cell_;
  const OverrideFrame* outer_;
};

// The calling thread's innermost override that is not by a capture of nothing; nullptr if there is
// none.
[[nodiscard]] const OverrideFrame* innermost_that_says() noexcept;

}  // namespace detail

class [[nodiscard]] ContextOverride {
 public:
  // This thread reads `impl`. Throws std::invalid_argument if it lacks what readers rely on
  // (context_impl.h).
  explicit ContextOverride(ContextImpl impl)
      : frame_(CapturedContext(std::make_shared<detail::ContextCell>(std::move(impl)))) {}
  // This thread follows what another one followed when it was captured.
  explicit ContextOverride(CapturedContext captured) : frame_(std::move(captured)) {}

  // As update_global(), for the threads that follow this override. Any thread may call it while the
  // guard lives. Not for a guard that follows the global context, or nothing; checked. `edit` may
  // change the global context, but an update of this override within it, by whichever guard, throws
  // std::logic_error.
  template <class Edit>
  std::uint64_t update(Edit&& edit) {
    return checked_cell().update(std::forward<Edit>(edit));
  }

 private:
  [[nodiscard]] detail::ContextCell& checked_cell() const noexcept;

  detail::OverrideFrame frame_;
};

}  // namespace weftrt
