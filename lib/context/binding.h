// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>

#include "lib/context/cell.h"

// What a thread follows that is in no override (override.h): decided once, at its first read by the
// process's policy or by bind_thread() before.
//
// Thread-safety: the policy may be read and set from any thread at any time; the rest acts on the
// calling thread.
//
// Invariants:
//  1. A thread's binding changes by bind_thread() alone: not by the policy, once it is bound.
//  2. A managed thread follows what its parent follows (threads/inherited_state.h), whatever the
//     policy; if that is the parent's own snapshot, they share it.

namespace weftrt {

enum class BindingPolicy : std::uint8_t {
  kLate,          // a thread follows the global context, and sees each change of it; the default
  kEarly,         // a thread keeps the global context as it was at its first read
  kExplicitOnly,  // a thread that was never given a context has none, and reading it throws
};

// For threads that are not bound yet. A policy set before main() holds for all threads.
void set_binding_policy(BindingPolicy policy) noexcept;
[[nodiscard]] BindingPolicy binding_policy() noexcept;

enum class Binding : std::uint8_t {
  kFollowGlobal,  // as kLate
  kSnapshot,      // a copy of the global context as it is now, for this thread
};

// Gives the calling thread a context, whatever the policy, or another than it had. An override in
// force stays in force, and the binding comes to light when it ends.
void bind_thread(Binding binding);

// Whether current() would succeed: always, unless the policy is kExplicitOnly.
[[nodiscard]] bool thread_has_context() noexcept;

// The policy is kExplicitOnly, and the thread was neither started by one that has a context
// (spawn_managed(), ManagedPool), nor given one by bind_thread() or a ContextOverride.
class NoContext : public std::logic_error {
 public:
  NoContext();
};

namespace detail {

// The cell to follow outside overrides: as bound, else bound now, by the policy. Throws NoContext.
ContextCell& base_cell();

// The calling thread's snapshot, to share it; empty if it has none.
[[nodiscard]] std::shared_ptr<ContextCell> shared_snapshot() noexcept;

// At the thread's end. What reads later, in a destructor, follows the global context.
void drop_snapshot() noexcept;

}  // namespace detail
}  // namespace weftrt
