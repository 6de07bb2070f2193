// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "lib/context/binding.h"
#include "lib/context/cell.h"
#include "lib/context/context_impl.h"
#include "lib/context/slot.h"

// The context: process-wide settings that any thread reads at any time, and that any thread may
// change while others read. A thread follows the global context, and sees each change of it at its
// next current() (late binding), unless it was bound otherwise (binding.h) or overrides it for a
// scope (override.h).
//
//   const weftrt::ContextImpl& context = weftrt::current();     // one consistent implementation
//   weftrt::update_global([](weftrt::ContextImpl& impl) { impl.seed_all(7); });
//
// Thread-safety: every function may be called from any thread at any time, from the first static
// initialiser on; nothing needs to be initialised first. References and pins belong to the thread
// that took them.
//
// Invariants:
//  1. What current() returns is one implementation as somebody published it, never parts of two.
//  2. It is neither destroyed nor changed before the same thread's next current() or pin() (which
//     is a current() that keeps what it got), or end.
//  3. A pinned implementation is not destroyed before its pin.
//  4. A current() that happens after a change sees that change or a later one.
//  5. Implementations alive <= threads that read and have not ended + pins + cells (the global one,
//     and one per override or snapshot), where an update, a generation() and a bind_thread() to a
//     snapshot count as a pin while they are in progress. So with no override, and one of these at
//     a time, there are at most live reading threads + pins + 2. A replaced implementation is
//     destroyed when the last thread that uses it reads again, unpins or ends.
//  6. A reader never blocks and never waits for a writer: it takes its reference in one step. If it
//     is the last to let go of another implementation, it destroys that, at the allocator's
//     leisure.
//
// Costs: current() on the common path is two dependent loads, thread's record -> implementation,
// and a test; nothing is written. After a change, each thread's next current() pays two fetch_adds,
// a seq_cst store and a fetch_sub. pin() adds two writes to thread-local memory and nothing shared.
//
// At process exit: the global cell and the implementation it then holds are never destroyed, so
// static destructors and detached threads may read to the end; nor is what a detached thread holds
// that is still there. All else goes with its last user.
//
// After fork(): the child may go on using all of this. Its one thread reads what it read in the
// parent, overrides and pins included. What only threads of the parent held stays alive in the
// child: at most one implementation for each of those threads, and their pins'.
//
// Copies: a process may hold several copies of this library, each built with hidden visibility into
// a module of its own. Each has a global context, threads' bindings and a stash of its own.

namespace weftrt {

// The implementation in force for this thread. The reference is valid until this thread's next
// current() or pin(); to use it for longer, or across calls of unknown code, pin.
// Throws NoContext where the thread was given none and the policy demands that it is (binding.h).
inline const ContextImpl& current() {
  // relaxed: what is not null was stored by this thread, which has held the node since; null, when
  // it comes from a change that happened before, is seen because coherence demands it.
  const detail::ContextNode* const node =
      detail::t_context.record->usable.load(std::memory_order_relaxed);
  if (node != nullptr) [[likely]]
    return node->impl;
  return detail::current_after_change();
}

// Keeps the implementation that was current when pin() was called, however often the context
// changes. Pins nest, in any order of destruction. A pin stays on its thread, which is checked.
class ContextPin {
 public:
  ~ContextPin();
  ContextPin(const ContextPin&) = delete;
  ContextPin& operator=(const ContextPin&) = delete;

  const ContextImpl& operator*() const noexcept { return node_->impl; }
  const ContextImpl* operator->() const noexcept { return &node_->impl; }

  // How many changes its cell had seen when this implementation was published.
  [[nodiscard]] std::uint64_t generation() const noexcept { return node_->generation; }

 private:
  friend ContextPin pin();
  ContextPin(detail::ContextSlot& owner, detail::ContextNode& node) noexcept
      : owner_(&owner), node_(&node) {}
  void release_shared() noexcept;

  detail::ContextSlot* owner_;
  detail::ContextNode* node_;
};

[[nodiscard]] inline ContextPin pin() {
  (void)current();
  detail::ContextSlot& slot = detail::t_context;
  ++slot.pins;
  return {slot, *slot.held};
}

inline ContextPin::~ContextPin() {
  detail::ContextSlot& slot = detail::t_context;
  // Pins of one node are alike: whichever of them share the slot's reference may be unpinned first.
  if (&slot == owner_ && slot.held == node_ && slot.pins != 0) [[likely]]
    --slot.pins;
  else
    release_shared();
}

// Makes `next` the global context, operators and all, and returns what it replaced. Throws
// std::invalid_argument, and changes nothing, if `next` lacks what readers rely on
// (context_impl.h). Not within an edit of the global context: see update_global().
ContextImpl swap_global(ContextImpl next);

// Changes the global context: `edit(ContextImpl&)` is given a copy, which is then published whole
// if the global context is still the one that was copied; otherwise it starts again from the newer
// one. So `edit` may run several times and should do nothing but edit. If it throws, nothing
// changes; nor if what it made lacks what readers rely on (context_impl.h), for which
// std::invalid_argument is thrown. Returns the generation published. Lock-free: it starts again
// only when another succeeded.
//
// `edit` may read, and may change what an override shows, but not the global context itself except
// by its argument: swap_global(), update_global() and register_operator() throw std::logic_error
// within it, since each would make it start again, for ever.
template <class Edit>
std::uint64_t update_global(Edit&& edit) {
  return detail::global_cell().update(std::forward<Edit>(edit));
}

// How often the global context has changed. Does not end the validity of current()'s reference.
[[nodiscard]] std::uint64_t generation();

// How many implementations exist, over the global context and all overrides. Exact when no change
// is in progress; one in progress may not be counted yet.
[[nodiscard]] std::size_t live_implementations() noexcept;

}  // namespace weftrt
