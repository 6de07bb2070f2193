// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Virtual time. It stands still while the subject computes, advances a little at
// every clock reading and step, and jumps when the timer task fires.
#pragma once

#include <time.h>

#include <cstdint>

namespace weft::model {

class VirtualTime {
 public:
  /// Nanoseconds of CLOCK_MONOTONIC at the start of every execution.
  static constexpr std::uint64_t kStart = 1'000'000'000;
  /// What CLOCK_REALTIME is ahead of it: 14 November 2023, 22:13:20 UTC.
  static constexpr std::uint64_t kRealtimeOffset = 1'700'000'000ull * 1'000'000'000ull;
  /// Each reading advances by so much, so that a loop that waits for the clock ends.
  static constexpr std::uint64_t kReadingNanoseconds = 100;

  void reset() noexcept { now_ = kStart; }
  [[nodiscard]] std::uint64_t now() const noexcept { return now_; }
  void advance_to(std::uint64_t time) noexcept {
    if (time > now_) now_ = time;
  }

  [[nodiscard]] static bool is_realtime(clockid_t clock) noexcept {
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI ||
           clock == CLOCK_REALTIME_ALARM;
  }

  /// One reading of `clock`, in its own nanoseconds.
  std::uint64_t read(clockid_t clock) noexcept {
    now_ += kReadingNanoseconds;
    return is_realtime(clock) ? now_ + kRealtimeOffset : now_;
  }

  /// An absolute time of `clock` as a deadline of ours; times in the past are due at once.
  [[nodiscard]] static std::uint64_t deadline(clockid_t clock, const timespec& time) noexcept {
    const std::uint64_t nanoseconds = to_nanoseconds(time);
    if (!is_realtime(clock)) return nanoseconds;
    return nanoseconds > kRealtimeOffset ? nanoseconds - kRealtimeOffset : 0;
  }

  /// Saturating; negative times are 0.
  [[nodiscard]] static std::uint64_t to_nanoseconds(const timespec& time) noexcept {
    if (time.tv_sec < 0) return 0;
    constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
    const auto seconds = static_cast<std::uint64_t>(time.tv_sec);
    if (seconds > kMost / 1'000'000'000u) return kMost;
    return seconds * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
  }

  [[nodiscard]] static timespec to_timespec(std::uint64_t nanoseconds) noexcept {
    return {static_cast<time_t>(nanoseconds / 1'000'000'000u),
            static_cast<long>(nanoseconds % 1'000'000'000u)};
  }

 private:
  std::uint64_t now_ = kStart;
};

}  // namespace weft::model
