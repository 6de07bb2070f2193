// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/stash/thread_entries.h"

#include <utility>

#include "lib/base/thread_exit.h"

namespace weftrt::detail {
namespace {

constinit thread_local ThreadEntries* t_entries = nullptr;

void release_entries_at_thread_exit() {
  if (t_entries == nullptr) return;
  // The entries stay in reach while they are released, because an object's destructor may look for
  // another object, or even leave a new one.
  while (!t_entries->all.empty()) {
    const std::shared_ptr<void> newest = std::move(t_entries->all.back().object);
    t_entries->all.pop_back();
  }
  delete std::exchange(t_entries, nullptr);
}

}  // namespace

ThreadEntries* thread_entries_if_any() noexcept { return t_entries; }

ThreadEntries& thread_entries() {
  if (t_entries == nullptr) {
    auto created = std::make_unique<ThreadEntries>();
    at_thread_exit(&release_entries_at_thread_exit);
    t_entries = created.release();
  }
  return *t_entries;
}

}  // namespace weftrt::detail
