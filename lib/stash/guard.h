// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <memory>
#include <vector>

#include "lib/stash/stash.h"

// Hands one thread's stash on to another: stash::capture() on the one, a StashGuard on the other.
//
// A guard *merges*: it touches the keys that the capture holds and no others, each by its
// StashRule. Replacing the whole stash instead would lose every object that the restoring thread
// stashed and the captured thread did not have.
//
// Thread-safety: a StashCapture is a value that any thread may copy, restore and destroy; it shares
// the objects, whose last holder destroys them on whichever thread that is. A StashGuard stays on
// the thread that made it.
//
// Invariants:
//  1. Inside a guard, each captured key has an object; each key not captured is as it was.
//  2. When a guard ends, each key it installed is again what it was before, present or absent,
//     whatever was done to it inside; what was done to other keys stays.
//  3. Guards nest, and end in reverse order of their beginning, also under exceptions; checked.

namespace weftrt {

class StashCapture;

namespace detail {
struct StashEntry;
struct ThreadEntries;
}  // namespace detail

namespace stash {

// What of the calling thread's stash others may inherit, as it is now.
[[nodiscard]] StashCapture capture();

}  // namespace stash

// A thread's inheritable objects at one moment: those whose rule is not kPrivate.
class StashCapture {
 public:
  // Empty.
  StashCapture() noexcept;
  ~StashCapture();
  StashCapture(const StashCapture&);
  StashCapture& operator=(const StashCapture&);
  StashCapture(StashCapture&&) noexcept;
  StashCapture& operator=(StashCapture&&) noexcept;

  [[nodiscard]] std::size_t size() const noexcept;

 private:
  friend class StashGuard;
  friend StashCapture stash::capture();

  std::vector<detail::StashEntry> entries_;
};

class [[nodiscard]] StashGuard {
 public:
  explicit StashGuard(const StashCapture& capture);
  ~StashGuard();
  StashGuard(const StashGuard&) = delete;
  StashGuard& operator=(const StashGuard&) = delete;

 private:
  void put_back() noexcept;

  detail::ThreadEntries* thread_;
  std::size_t depth_ = 0;  // this guard is the thread's depth_-th
  // What each installed key held before, in order of installation; null where there was nothing.
  std::vector<detail::StashEntry> previous_;
};

}  // namespace weftrt
