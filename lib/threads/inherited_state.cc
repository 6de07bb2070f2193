// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/threads/inherited_state.h"

namespace weftrt {

InheritedState capture_inherited_state() {
  return {.context = capture_context(), .stash = stash::capture()};
}

InheritedStateGuard::InheritedStateGuard(const InheritedState& state)
    : context_(state.context), stash_(state.stash) {}

}  // namespace weftrt
