// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A thread lends a variable of an inner scope. The buggy lender leaves the scope
// while somebody who has learned the address is about to use it.

#include <atomic>
#include <mutex>
#include <thread>

#include <weft/scenario.h>

namespace {

struct Desk {
  std::mutex mutex;
  std::atomic<int*> lent = nullptr;
};

void borrow(Desk& desk) {
  if (int* const borrowed = desk.lent.load()) {
    const std::lock_guard lock(desk.mutex);  // taken too late to help
    ++*borrowed;
  }
}

void borrow_locked(Desk& desk) {
  const std::lock_guard lock(desk.mutex);
  if (int* const borrowed = desk.lent.load()) ++*borrowed;
}

void lend_to(void (*borrower)(Desk&)) {
  Desk desk;
  std::thread other([&] { borrower(desk); });
  {
    int lent = 1;
    desk.lent = &lent;
    const std::lock_guard lock(desk.mutex);
    desk.lent = nullptr;
  }
  other.join();
}

WEFT_SCENARIO(left_scope_buggy, {.name = "memory/left_scope.buggy",
                                 .summary = "a variable is changed after its scope was left",
                                 .expect = weft::must_find("memory_error"),
                                 .budget = 500}) {
  lend_to(&borrow);
}

WEFT_SCENARIO(left_scope_fixed, {.name = "memory/left_scope.fixed",
                                 .summary = "what is lent is learned and used under one lock",
                                 .expect = weft::must_pass(),
                                 .budget = 500}) {
  lend_to(&borrow_locked);
}

}  // namespace
