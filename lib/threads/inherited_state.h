// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "lib/context/override.h"
#include "lib/stash/guard.h"

namespace weftrt {

// All that a managed thread, or work of a ManagedPool, inherits from the thread that starts or
// submits it, in one place:
//  - the context it follows: its override if it has one, else what it is bound to (binding.h);
//  - the stash objects whose key says so, merged with what the inheriting thread has by the rule of
//    each key (stash/key.h).
// Not inherited: pins, guards, the stash objects of private keys.
//
// Thread-safety: a value that any thread may use, copy and destroy. Its stash objects are handed
// over: the last holder destroys them, on whichever thread that is.
struct InheritedState {
  CapturedContext context;
  StashCapture stash;
};

// Of the calling thread.
[[nodiscard]] InheritedState capture_inherited_state();

// Puts a captured state in force on the calling thread until the guard ends. Nests like its parts.
class [[nodiscard]] InheritedStateGuard {
 public:
  explicit InheritedStateGuard(const InheritedState& state);

 private:
  ContextOverride context_;
  StashGuard stash_;  // ends first: the destructors of its objects see the inherited context
};

}  // namespace weftrt
