// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A mailbox hands a letter straight to a reader that waits for it, with a time-out.
// Both can happen: the letter comes while the reader, timed out already, waits for
// the lock. The buggy reader believes the time-out, and the letter is lost.

#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <weft/scenario.h>

namespace {

constexpr auto kPatience = std::chrono::milliseconds(10);

class Mailbox {
 public:
  std::optional<int> receive_or_believe() {
    std::unique_lock lock(mutex_);
    reader_waits_ = true;
    while (reader_waits_) {
      if (handed_.wait_for(lock, kPatience) == std::cv_status::timeout) {
        reader_waits_ = false;
        return std::nullopt;
      }
    }
    return letter_;
  }
  std::optional<int> receive() {
    std::unique_lock lock(mutex_);
    reader_waits_ = true;
    if (handed_.wait_for(lock, kPatience, [this] { return !reader_waits_; })) return letter_;
    reader_waits_ = false;
    return std::nullopt;
  }
  /// False: nobody waits, and the letter is still the sender's.
  bool hand_over(int letter) {
    const std::lock_guard lock(mutex_);
    if (!reader_waits_) return false;
    reader_waits_ = false;
    letter_ = letter;
    handed_.notify_one();
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable handed_;
  bool reader_waits_ = false;
  int letter_ = 0;
};

void post(std::optional<int> (Mailbox::*receive)()) {
  Mailbox mailbox;
  bool taken = false;
  std::thread sender([&] { taken = mailbox.hand_over(7); });
  const std::optional<int> letter = (mailbox.*receive)();
  sender.join();
  assert(letter.has_value() == taken);
}

WEFT_SCENARIO(time_out_buggy, {.name = "classic/time_out.buggy",
                               .summary = "a letter handed over to a reader that timed out",
                               .expect = weft::must_find("assertion"),
                               .budget = 1000}) {
  post(&Mailbox::receive_or_believe);
}

WEFT_SCENARIO(time_out_fixed, {.name = "classic/time_out.fixed",
                               .summary = "after a time-out, what was waited for decides",
                               .expect = weft::must_pass(),
                               .budget = 1000}) {
  post(&Mailbox::receive);
}

}  // namespace
