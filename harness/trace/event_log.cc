// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/trace/event_log.h"

#include <algorithm>
#include <type_traits>

namespace weft::trace {

static_assert(std::is_trivially_copyable_v<Event>, "the spill file holds them as they are");

bool EventLog::add(const Event& event) noexcept {
  if (dropped_ == 0 && count_ == in_file_ + 2 * block_events_) {
    // The older block begins where the file ends, and its place is the one that comes next.
    const Event* const oldest = events_ + in_file_ % (2 * block_events_);
    if (write_at(place_, oldest, block_events_ * sizeof(Event), in_file_ * sizeof(Event))) {
      in_file_ += block_events_;
    } else {
      dropped_ = 1;
      return false;
    }
  }
  if (dropped_ != 0) {
    ++dropped_;
    return false;
  }
  events_[count_ % (2 * block_events_)] = event;
  ++count_;
  return true;
}

void EventLog::set_value(std::uint64_t number, std::uint64_t value) noexcept {
  if (number >= in_file_) {
    events_[number % (2 * block_events_)].value = value;
  } else {
    // A full disk has room for what it already holds.
    (void)write_at(place_, &value, sizeof value, number * sizeof(Event) + offsetof(Event, value));
  }
}

EventReader::EventReader(const EventLog& log)
    : log_(log),
      block_events_(std::clamp<std::size_t>(log.block_events_, 1, EventLog::kBlockEvents)),
      in_file_(log.in_file_),
      count_(std::min(log.count_, log.in_file_ + 2 * block_events_)) {}

bool EventReader::next(Event& event) {
  if (number_ >= count_) return false;
  if (number_ < in_file_) {
    if (buffer_.empty() || buffered_at_ + buffer_.size() <= number_) {
      buffered_at_ = number_;
      buffer_.resize(std::min<std::uint64_t>(kBuffered, in_file_ - number_));
      const std::size_t bytes = buffer_.size() * sizeof(Event);
      if (read_at(log_.place_, buffer_.data(), bytes, number_ * sizeof(Event)) != bytes) {
        count_ = number_;
        return false;
      }
    }
    event = buffer_[number_ - buffered_at_];
  } else {
    event = log_.events_[number_ % (2 * block_events_)];
  }
  ++number_;
  return true;
}

}  // namespace weft::trace
