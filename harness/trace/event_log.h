// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The events of a recorded execution as a worker keeps them, in the channel: two blocks of them
// that are filled in turn; the older one goes to the spill file before it is written again. So an
// operation that takes long to yield its value finds its event in memory, as a rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/trace/event.h"
#include "harness/trace/spill.h"

namespace weft::trace {

class EventLog {
 public:
  /// 16 Ki events of 104 bytes: 1.7 MB a block.
  static constexpr std::size_t kBlockEvents = std::size_t{1} << 14;

  /// The supervisor's, while no worker runs. `block_events` at most kBlockEvents, less for tests.
  void open(const SpillPlace& place, std::size_t block_events = kBlockEvents) noexcept {
    place_ = place;
    block_events_ = block_events;
    clear();
  }

  void clear() noexcept { count_ = in_file_ = dropped_ = 0; }
  /// False where the disk does not take more; neither does it later.
  bool add(const Event& event) noexcept;
  /// Of the event with that number, from 0.
  void set_value(std::uint64_t number, std::uint64_t value) noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// How many add() did not take.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  friend class EventReader;

  std::uint64_t count_ = 0;
  std::uint64_t in_file_ = 0;  // the first so many are; the others are in memory
  std::uint64_t dropped_ = 0;
  SpillPlace place_;
  std::size_t block_events_ = kBlockEvents;
  Event events_[2 * kBlockEvents];  // number n is at n modulo two blocks
};

/// All events of a log, one by one, in bounded memory. Supervisor side. Believes nothing that the
/// worker may have overwritten.
class EventReader {
 public:
  explicit EventReader(const EventLog& log);
  /// False at the end, or where the file has no more.
  bool next(Event& event);

 private:
  const EventLog& log_;
  const std::size_t block_events_;
  std::uint64_t number_ = 0;
  std::uint64_t in_file_;
  std::uint64_t count_;
  static constexpr std::size_t kBuffered = 4096;
  std::vector<Event> buffer_;  // of the file's
  std::uint64_t buffered_at_ = 0;
};

}  // namespace weft::trace
