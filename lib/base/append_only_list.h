// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <atomic>
#include <memory>

namespace weftrt::detail {

// Records that are added and never removed, for process-wide registries that threads fill while
// others search them. Record has a member `const Record* next`, which belongs to the list.
//
// No lock, so that a thread that forks while another adds leaves the child a list in order. Never
// destroyed: destructors of any thread may search it at process exit.
//
// Thread-safety: any thread, from the first static initialiser on, if constinit.
// Costs: a search is linear; adding is lock-free.
template <class Record>
class AppendOnlyList {
 public:
  // The newest first; follow `next`.
  [[nodiscard]] const Record* newest() const noexcept {
    // acquire: pairs with the release in find_or_add(): the record and those before it are whole.
    return newest_.load(std::memory_order_acquire);
  }

  // The record for which `same` holds; where there is none, `make()` (a unique_ptr<Record>) is
  // added. Of several threads that add the same at once, one adds and all get what it added. `make`
  // gets the record that will be the next older one, or nullptr, and may run more than once.
  template <class Same, class Make>
  const Record& find_or_add(Same same, Make make) {
    const Record* seen = newest();
    if (const Record* found = find(seen, nullptr, same)) return *found;
    for (;;) {
      std::unique_ptr<Record> added = make(seen);
      added->next = seen;
      const Record* const searched = seen;
      // release: pairs with the acquires of those who search. acquire: what others added instead.
      if (newest_.compare_exchange_strong(seen, added.get(), std::memory_order_acq_rel,
                                          std::memory_order_acquire))
        return *added.release();
      if (const Record* found = find(seen, searched, same)) return *found;
    }
  }

 private:
  template <class Same>
  static const Record* find(const Record* from, const Record* end, Same& same) {
    for (const Record* record = from; record != end; record = record->next)
      if (same(*record)) return record;
    return nullptr;
  }

  std::atomic<const Record*> newest_{nullptr};
};

}  // namespace weftrt::detail
