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
// A managed thread inherits its parent's override by sharing its cell (captured_override()): an
// update of the override reaches all threads that share it, as a global update reaches all others.
//
// Thread-safety: a guard stays on the thread that made it, which is checked. CapturedOverride is a
// value that any thread may use.
//
// Invariants:
//  1. An override changes what its own thread, and those that inherit it, read; nobody else.
//  2. A guard's end brings back exactly the binding found at its start, global or outer override.
//  3. An override's cell lives as long as a guard or a capture refers to it.

namespace weftrt {

namespace detail {

// One scope in which the thread follows another cell; the stack of them hangs from ContextSlot.
class OverrideFrame {
 public:
  // Follows `cell`, or the global context if it is null.
  explicit OverrideFrame(std::shared_ptr<ContextCell> cell);
  ~OverrideFrame();
  OverrideFrame(const OverrideFrame&) = delete;
  OverrideFrame& operator=(const OverrideFrame&) = delete;

  [[nodiscard]] const std::shared_ptr<ContextCell>& cell() const noexcept { return cell_; }

 private:
  std::shared_ptr<ContextCell> cell_;
  ContextCell* outer_cell_;
  const OverrideFrame* outer_;
};

}  // namespace detail

// What a thread follows, for another thread to follow too. Empty: the global context.
class CapturedOverride {
 public:
  CapturedOverride() = default;
  [[nodiscard]] bool follows_global() const noexcept { return cell_ == nullptr; }

 private:
  friend CapturedOverride captured_override();
  friend class ContextOverride;
  explicit CapturedOverride(std::shared_ptr<detail::ContextCell> cell) noexcept
      : cell_(std::move(cell)) {}

  std::shared_ptr<detail::ContextCell> cell_;
};

// What the calling thread follows.
[[nodiscard]] CapturedOverride captured_override();

class [[nodiscard]] ContextOverride {
 public:
  // This thread reads `impl`.
  explicit ContextOverride(ContextImpl impl)
      : frame_(std::make_shared<detail::ContextCell>(std::move(impl))) {}
  // This thread follows what another one followed when it was captured.
  explicit ContextOverride(CapturedOverride captured) : frame_(std::move(captured.cell_)) {}

  // As update_global(), for the threads that follow this override. Any thread may call it while the
  // guard lives. Not for a guard that follows the global context.
  template <class Edit>
  std::uint64_t update(Edit&& edit) {
    return checked_cell().update(std::forward<Edit>(edit));
  }

 private:
  [[nodiscard]] detail::ContextCell& checked_cell() const noexcept;

  detail::OverrideFrame frame_;
};

}  // namespace weftrt
