// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Two threads add to one balance: each reads it, computes, and writes it back.
// The lock that the buggy one takes covers the read and the write, but not both
// together.

#include <cassert>
#include <mutex>
#include <thread>

#include <weft/scenario.h>

namespace {

class Account {
 public:
  int balance() {
    std::lock_guard lock(mutex_);
    return balance_;
  }
  void set_balance(int balance) {
    std::lock_guard lock(mutex_);
    balance_ = balance;
  }
  void deposit(int amount) {
    std::lock_guard lock(mutex_);
    balance_ += amount;
  }

 private:
  std::mutex mutex_;
  int balance_ = 0;
};

WEFT_SCENARIO(lost_update_buggy, {.name = "classic/lost_update.buggy",
                                  .summary = "a read and a write locked one by one",
                                  .expect = weft::must_find("assertion"),
                                  .budget = 200}) {
  Account account;
  std::thread teller([&] { account.set_balance(account.balance() + 10); });
  account.set_balance(account.balance() + 5);
  teller.join();
  assert(account.balance() == 15);
}

WEFT_SCENARIO(lost_update_fixed, {.name = "classic/lost_update.fixed",
                                  .summary = "read, add and write under one lock",
                                  .expect = weft::must_pass(),
                                  .budget = 200}) {
  Account account;
  std::thread teller([&] { account.deposit(10); });
  account.deposit(5);
  teller.join();
  assert(account.balance() == 15);
}

}  // namespace
