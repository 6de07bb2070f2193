// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A pool of buffers as a lock-free stack of slots. take() reads the top slot and
// the one below, then swings the top from the one to the other. Where in between
// both were taken and the first put back, the buggy swing succeeds, and gives a
// slot that is in use to the next caller. The fixed top counts its changes.

#include <atomic>
#include <cassert>
#include <cstdint>
#include <thread>

#include <weft/scenario.h>

namespace {

constexpr std::uint32_t kNone = 2;

class Slots {
 public:
  std::uint32_t below(std::uint32_t slot) const { return below_[slot].load(); }
  void put_on(std::uint32_t slot, std::uint32_t top) { below_[slot].store(top); }

 private:
  std::atomic<std::uint32_t> below_[kNone] = {1, kNone};
};

class BarePool {
 public:
  std::uint32_t take() {
    std::uint32_t top = top_.load();
    while (top != kNone && !top_.compare_exchange_weak(top, slots_.below(top))) {
    }
    return top;
  }
  void put_back(std::uint32_t slot) {
    std::uint32_t top = top_.load();
    do {
      slots_.put_on(slot, top);
    } while (!top_.compare_exchange_weak(top, slot));
  }

 private:
  Slots slots_;
  std::atomic<std::uint32_t> top_{0};
};

class CountedPool {
 public:
  std::uint32_t take() {
    Top top = top_.load();
    while (slot_of(top) != kNone &&
           !top_.compare_exchange_weak(top, changed(top, slots_.below(slot_of(top))))) {
    }
    return slot_of(top);
  }
  void put_back(std::uint32_t slot) {
    Top top = top_.load();
    do {
      slots_.put_on(slot, slot_of(top));
    } while (!top_.compare_exchange_weak(top, changed(top, slot)));
  }

 private:
  using Top = std::uint64_t;  // changes so far << 32 | slot
  static std::uint32_t slot_of(Top top) { return static_cast<std::uint32_t>(top); }
  static Top changed(Top top, std::uint32_t slot) { return ((top >> 32) + 1) << 32 | slot; }

  Slots slots_;
  std::atomic<Top> top_{0};
};

template <typename Pool>
void share() {
  Pool pool;
  std::uint32_t of_reader = kNone;
  std::thread reader([&] { of_reader = pool.take(); });
  const std::uint32_t header = pool.take();
  const std::uint32_t body = pool.take();
  if (header != kNone) pool.put_back(header);
  reader.join();

  // Each slot is in use once or in the pool.
  bool seen[kNone + 1] = {};
  for (const std::uint32_t slot : {of_reader, body, pool.take(), pool.take()}) {
    assert(slot == kNone || !seen[slot]);
    seen[slot] = true;
  }
}

WEFT_SCENARIO(aba_buggy, {.name = "classic/aba.buggy",
                          .summary = "the top of a lock-free stack left and came back",
                          .expect = weft::must_find("assertion"),
                          .budget = 1000}) {
  share<BarePool>();
}

WEFT_SCENARIO(aba_fixed, {.name = "classic/aba.fixed",
                          .summary = "the top carries the number of its changes",
                          .expect = weft::must_pass(),
                          .budget = 1000}) {
  share<CountedPool>();
}

}  // namespace
