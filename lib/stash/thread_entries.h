// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "lib/stash/key.h"

// The storage behind stash.h and guard.h: private to lib/stash.

namespace weftrt::detail {

struct StashEntry {
  const StashKeyRecord* record;
  std::shared_ptr<void> object;  // never null, except while it is being taken out
};

// One thread's stash. Only its own thread touches it.
struct ThreadEntries {
  std::vector<StashEntry> all;                      // oldest first, one per key
  std::vector<const StashKeyRecord*> initialising;  // keys whose initialiser is running
  std::size_t guard_depth = 0;                      // guards in force

  [[nodiscard]] const StashEntry* find(const StashKeyRecord& record) const noexcept {
    for (const StashEntry& entry : all)
      if (entry.record == &record) return &entry;
    return nullptr;
  }
  [[nodiscard]] StashEntry* find(const StashKeyRecord& record) noexcept {
    return const_cast<StashEntry*>(static_cast<const ThreadEntries*>(this)->find(record));
  }
};

// The calling thread's stash; nullptr if it has not used one yet, or not since it was destroyed.
[[nodiscard]] ThreadEntries* thread_entries_if_any() noexcept;

// The same, created if need be; destroyed at the thread's end.
[[nodiscard]] ThreadEntries& thread_entries();

}  // namespace weftrt::detail
