// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Two threads append to a buffer with room for one. The buggy buffer looks
// whether there is room, and takes its slot a moment later.

#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>

#include <weft/scenario.h>

namespace {

class Buffer {
 public:
  void append_if_room(int value) {
    if (used_.load() < kSlots) slots_[used_.fetch_add(1)] = value;
  }
  void claim_and_append(int value) {
    const std::size_t slot = used_.fetch_add(1);
    if (slot < kSlots) slots_[slot] = value;
  }

 private:
  static constexpr std::size_t kSlots = 1;
  std::unique_ptr<int[]> slots_ = std::make_unique<int[]>(kSlots);
  std::atomic<std::size_t> used_ = 0;
};

WEFT_SCENARIO(last_slot_buggy, {.name = "memory/last_slot.buggy",
                                .summary = "a buffer is written past its end",
                                .expect = weft::must_find("memory_error"),
                                .budget = 500}) {
  Buffer buffer;
  std::thread other([&] { buffer.append_if_room(1); });
  buffer.append_if_room(2);
  other.join();
}

WEFT_SCENARIO(last_slot_fixed, {.name = "memory/last_slot.fixed",
                                .summary = "a slot is claimed before it is compared",
                                .expect = weft::must_pass(),
                                .budget = 500}) {
  Buffer buffer;
  std::thread other([&] { buffer.claim_and_append(1); });
  buffer.claim_and_append(2);
  other.join();
}

}  // namespace
