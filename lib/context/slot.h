// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstdint>

#include "lib/context/cell.h"
#include "lib/context/readers.h"

// What the calling thread knows of its context: private to lib/context, and here because current()
// is inline.

namespace weftrt::detail {

class OverrideFrame;
struct Snapshot;

// Only its own thread touches it, but for the record. constinit, and without a destructor, so that
// it may be used as long as the thread runs, in thread_local destructors too.
struct ContextSlot {
  ReaderRecord* record;          // the one of nobody, before the first read and after the last
  ContextNode* held = nullptr;   // what the last current() returned, with one reference
  std::uint32_t pins = 0;        // pins on `held`, which share that reference
  ContextCell* base = nullptr;   // which cell it follows outside overrides; null: not bound yet
  Snapshot* snapshot = nullptr;  // owns `base`, if that is not the global one
  const OverrideFrame* override_frame = nullptr;  // innermost override, if any
};

// Of nobody: nothing is usable.
extern constinit ReaderRecord g_nobody;

extern constinit thread_local ContextSlot t_context;

// What current() does if nothing is usable: binds the thread if this is its first read, and moves
// it to the current implementation of the cell it follows.
[[gnu::cold]] const ContextImpl& current_after_change();

// Takes a record for the thread and sees to it that all is given back at its end. May throw
// std::bad_alloc; nothing has changed then.
void attach_slot();

// The one cell that threads follow which nobody bound otherwise; created on first use.
ContextCell& global_cell();

// Makes the thread look again at its next current().
inline void nothing_usable(const ContextSlot& slot) noexcept {
  // relaxed: read by this thread alone. It may hide that another nulled it, to the same effect.
  if (slot.record != &g_nobody) slot.record->usable.store(nullptr, std::memory_order_relaxed);
}

}  // namespace weftrt::detail
