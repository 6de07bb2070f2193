// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A gate that opens for a moment and closes again, as an atomic with wait and
// notify. Who was woken looks again, finds it closed, and waits for a notify that
// has been. The fixed gate counts its openings, which never go back.

#include <atomic>
#include <thread>

#include <weft/scenario.h>

namespace {

class Gate {
 public:
  void await_opening() { open_.wait(false); }
  void pulse() {
    open_ = true;
    open_.notify_all();
    open_ = false;
  }

 private:
  std::atomic<bool> open_{false};
};

class CountingGate {
 public:
  int openings() const { return openings_; }
  void await_opening_after(int seen) { openings_.wait(seen); }
  void pulse() {
    ++openings_;
    openings_.notify_all();
  }

 private:
  std::atomic<int> openings_{0};
};

WEFT_SCENARIO(missed_notify_buggy, {.name = "classic/missed_notify.buggy",
                                    .summary = "the value is back before the waiter looks",
                                    .expect = weft::must_find("deadlock"),
                                    .budget = 500}) {
  Gate gate;
  std::thread visitor([&] { gate.await_opening(); });
  gate.pulse();
  visitor.join();
}

WEFT_SCENARIO(missed_notify_fixed, {.name = "classic/missed_notify.fixed",
                                    .summary = "a value that only grows cannot be missed",
                                    .expect = weft::must_pass(),
                                    .budget = 500}) {
  CountingGate gate;
  const int seen = gate.openings();
  std::thread visitor([&gate, seen] { gate.await_opening_after(seen); });
  gate.pulse();
  visitor.join();
}

}  // namespace
