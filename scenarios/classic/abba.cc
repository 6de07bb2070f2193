// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Two transfers between the same two accounts, in opposite directions: each
// locks the account it takes from, then the one it gives to.

#include <cassert>
#include <mutex>
#include <thread>

#include <weft/scenario.h>

namespace {

struct Account {
  std::mutex mutex;
  int balance = 100;
};

void transfer_in_turn(Account& from, Account& to, int amount) {
  std::lock_guard lock_from(from.mutex);
  std::lock_guard lock_to(to.mutex);
  from.balance -= amount;
  to.balance += amount;
}

void transfer_at_once(Account& from, Account& to, int amount) {
  std::scoped_lock lock(from.mutex, to.mutex);
  from.balance -= amount;
  to.balance += amount;
}

void cross_transfers(void (*transfer)(Account&, Account&, int)) {
  Account ada;
  Account bob;
  std::thread thread([&] { transfer(ada, bob, 10); });
  transfer(bob, ada, 30);
  thread.join();
  assert(ada.balance == 120 && bob.balance == 80);
}

WEFT_SCENARIO(abba_buggy, {.name = "classic/abba.buggy",
                           .summary = "two transfers lock two accounts in opposite orders",
                           .expect = weft::must_find("deadlock"),
                           .budget = 200}) {
  cross_transfers(transfer_in_turn);
}

WEFT_SCENARIO(abba_fixed, {.name = "classic/abba.fixed",
                           .summary = "both accounts locked at once, with back-off",
                           .expect = weft::must_pass(),
                           .budget = 200}) {
  cross_transfers(transfer_at_once);
}

}  // namespace
