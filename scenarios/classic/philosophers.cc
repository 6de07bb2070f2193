// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Three philosophers at a round table, each of whom takes the fork to the left,
// then the one to the right. The fixed table has one who is left-handed.

#include <array>
#include <cstddef>
#include <mutex>
#include <thread>

#include <weft/scenario.h>

namespace {

constexpr std::size_t kSeats = 3;

class Table {
 public:
  void dine(std::size_t seat) { eat(forks_[seat], forks_[(seat + 1) % kSeats]); }
  void dine_in_order(std::size_t seat) {
    if (seat + 1 == kSeats) {
      eat(forks_[0], forks_[seat]);
    } else {
      dine(seat);
    }
  }

 private:
  static void eat(std::mutex& first, std::mutex& second) {
    const std::lock_guard one(first);
    const std::lock_guard other(second);
  }

  std::array<std::mutex, kSeats> forks_;
};

void dinner(void (Table::*dine)(std::size_t)) {
  Table table;
  std::thread plato([&] { (table.*dine)(1); });
  std::thread kant([&] { (table.*dine)(2); });
  (table.*dine)(0);
  plato.join();
  kant.join();
}

WEFT_SCENARIO(philosophers_buggy, {.name = "classic/philosophers.buggy",
                                   .summary = "each holds the left fork and wants the right one",
                                   .expect = weft::must_find("deadlock"),
                                   .budget = 2000}) {
  dinner(&Table::dine);
}

WEFT_SCENARIO(philosophers_fixed, {.name = "classic/philosophers.fixed",
                                   .summary = "forks taken in one order everywhere",
                                   .expect = weft::must_pass(),
                                   .budget = 2000}) {
  dinner(&Table::dine_in_order);
}

}  // namespace
