// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

namespace weftrt::detail {

// Calls `release` when the calling thread ends, in reverse order with its thread_local destructors.
//
// This is the registration that the compiler makes for a thread_local with a destructor, made by
// hand, because a thread_local registers once only: a destructor that runs after it and uses the
// runtime again would take references that nobody gives back. `at_thread_exit` may be called again
// from such a destructor, and then runs once more. On the main thread `release` runs in exit().
//
// Thread-safety: acts on the calling thread only. Cost: one small allocation.
void at_thread_exit(void (*release)());

}  // namespace weftrt::detail
