// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/context/readers.h"

namespace weftrt::detail {
namespace {

constinit std::atomic<ReaderRecord*> g_records{nullptr};

}  // namespace

ReaderRecord& take_reader_record() {
  // acquire: pairs with the release below: `next` is there.
  for (ReaderRecord* record = g_records.load(std::memory_order_acquire); record != nullptr;
       record = record->next) {
    // relaxed: a guess. acquire: pairs with the release in give_back_reader_record(): the former
    // thread's writes come before ours.
    if (!record->taken.load(std::memory_order_relaxed) &&
        !record->taken.exchange(true, std::memory_order_acquire))
      return *record;
  }
  auto* const added = new ReaderRecord;
  added->next = g_records.load(std::memory_order_relaxed);
  // release: pairs with the acquires of who walks the list. seq_cst, because the records that a
  // change walks must be ordered with the change: one that is added later belongs to a thread that
  // looks at its cell later.
  while (!g_records.compare_exchange_weak(added->next, added, std::memory_order_seq_cst,
                                          std::memory_order_relaxed)) {
  }
  return *added;
}

void give_back_reader_record(ReaderRecord& record) noexcept {
  record.follows.store(nullptr, std::memory_order_relaxed);
  record.taken.store(false, std::memory_order_release);  // release: see take_reader_record()
}

void tell_readers_of(const ContextCell& cell) noexcept {
  // seq_cst, here and below: see current_after_change() for the argument.
  for (ReaderRecord* record = g_records.load(std::memory_order_seq_cst); record != nullptr;
       record = record->next) {
    if (record->follows.load(std::memory_order_seq_cst) == &cell)
      record->usable.store(nullptr, std::memory_order_seq_cst);
  }
}

}  // namespace weftrt::detail
