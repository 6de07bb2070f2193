// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <atomic>

namespace weftrt::detail {

class ContextCell;
class ContextNode;

// What a reading thread shows to those who change the context, and where they tell it that what it
// holds is no longer current. So that a thread whose context did not change learns that by one load
// from a cache line of its own.
//
// Each record belongs to one thread at a time; when that ends, to the next that begins. Records are
// never destroyed: a change may be looking at one whose thread is ending. There are as many as
// there were reading threads at the same time.
struct alignas(64) ReaderRecord {  // 64: a cache line
  // The node that the thread holds, while that may be what its cell holds: written by the thread;
  // nulled by the thread, and by who is about to replace the node in its cell.
  std::atomic<const ContextNode*> usable{nullptr};
  // The cell that `usable` is of. Written by the thread; only compared by others.
  std::atomic<const ContextCell*> follows{nullptr};

  // The list's.
  std::atomic<bool> taken{true};
  ReaderRecord* next = nullptr;
};

// Lock-free; may throw std::bad_alloc.
[[nodiscard]] ReaderRecord& take_reader_record();
// The caller has nulled `usable`, and will not use the record any more.
void give_back_reader_record(ReaderRecord& record) noexcept;

// For who is about to replace the node in `cell` and has said so, by a seq_cst operation: nulls
// `usable` of each thread that follows it. A thread that this misses began to follow, or to hold
// the old node, so late that it sees what was said (see current_after_change()).
void tell_readers_of(const ContextCell& cell) noexcept;

}  // namespace weftrt::detail
