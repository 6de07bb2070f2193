// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Two threads take the last ticket. The buggy office looks whether one is left,
// and sells it a moment later, when it may be gone.

#include <cassert>
#include <mutex>
#include <thread>

#include <weft/scenario.h>

namespace {

class TicketOffice {
 public:
  bool any_left() {
    std::lock_guard lock(mutex_);
    return left_ > 0;
  }
  void sell() {
    std::lock_guard lock(mutex_);
    --left_;
    assert(left_ >= 0);
  }
  bool sell_if_any_left() {
    std::lock_guard lock(mutex_);
    if (left_ == 0) return false;
    --left_;
    return true;
  }

 private:
  std::mutex mutex_;
  int left_ = 1;
};

WEFT_SCENARIO(check_then_act_buggy, {.name = "classic/check_then_act.buggy",
                                     .summary = "the last ticket is sold twice",
                                     .expect = weft::must_find("assertion"),
                                     .budget = 200}) {
  TicketOffice office;
  const auto buy = [&] {
    if (office.any_left()) office.sell();
  };
  std::thread customer(buy);
  buy();
  customer.join();
}

WEFT_SCENARIO(check_then_act_fixed, {.name = "classic/check_then_act.fixed",
                                     .summary = "checked and sold under one lock",
                                     .expect = weft::must_pass(),
                                     .budget = 200}) {
  TicketOffice office;
  int sold = 0;
  bool other_bought = false;
  std::thread customer([&] { other_bought = office.sell_if_any_left(); });
  if (office.sell_if_any_left()) ++sold;
  customer.join();
  if (other_bought) ++sold;
  assert(sold == 1);
}

}  // namespace
