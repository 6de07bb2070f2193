// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <concepts>
#include <functional>
#include <thread>
#include <utility>

#include "lib/threads/inherited_state.h"

// The two ways to start a thread. Both return a std::thread, with its rules: join or detach it
// before it is destroyed, and an exception that leaves the function ends the program.

namespace weftrt {

// Starts a *managed* thread: the state of the calling thread, as it is now, is in force around the
// call of `function` on the new thread and the end of what that owns. The captured state is given
// up before the thread ends.
template <std::invocable Function>
[[nodiscard]] std::thread spawn_managed(Function function) {
  return std::thread([state = capture_inherited_state(), function = std::move(function)]() mutable {
    const InheritedStateGuard guard(std::exchange(state, {}));
    Function mine = std::move(function);  // gone before the guard ends
    std::invoke(std::move(mine));
  });
}

// Starts a *raw* thread, which inherits nothing, as any thread does that others start: at its first
// read it is bound to a context by the process's policy (context/binding.h), and its stash is empty
// and initialises itself by stash::get_or_init(). Nothing need be called to attach it.
template <std::invocable Function>
[[nodiscard]] std::thread spawn_raw(Function function) {
  return std::thread(std::move(function));
}

}  // namespace weftrt
