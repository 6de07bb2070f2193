// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

namespace weftrt::detail {

// Calls `release` when the calling thread ends, in reverse order with its thread_local destructors.
//
// This is the registration that the compiler makes for a thread_local with a destructor, made by
// hand, because a thread_local registers once only: a destructor that runs after it and uses the
// runtime again would take references that nobody gives back. `at_thread_exit` may be called again
// from such a destructor, and then `release` runs once more.
//
// It may also be called from a destructor of pthread_key_create(), which runs when no thread_local
// is left: `release` then runs in the next round of those, of which there are at least
// PTHREAD_DESTRUCTOR_ITERATIONS, 4. `release` may be called when there is nothing to release.
//
// A thread whose first call comes from there, by a key that was made before this module was loaded,
// costs a record of 32 bytes that glibc does not free.
//
// On the main thread `release` runs in exit(), before static destructors; what is registered by
// these is not called any more.
//
// Thread-safety: acts on the calling thread only. Cost: two small allocations.
// Source of the rule: Itanium C++ ABI, __cxa_thread_atexit; POSIX pthread_key_create();
// the order of the two is glibc's (start_thread) and musl's.
void at_thread_exit(void (*release)());

}  // namespace weftrt::detail
