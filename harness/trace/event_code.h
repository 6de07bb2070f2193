// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Steps in a trace file, one by one: the section EVNT is the only one that may be larger than
// memory. Supervisor side.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "harness/trace/bytes.h"
#include "harness/trace/event.h"

namespace weft::trace {

/// The fewest and the most bytes that a step takes, as EventEncoder shows.
inline constexpr std::uint64_t kMinEventBytes = 24;
inline constexpr std::size_t kMaxEventBytes = 192;
/// Hours of steps; a reader refuses more.
inline constexpr std::uint64_t kMaxEvents = std::uint64_t{1} << 32;

/// An object is spelled out where it first occurs and a number afterwards: events take about 35
/// bytes in the file for 104 in memory.
class EventEncoder {
 public:
  void add(ByteWriter& out, const Event& event);

 private:
  std::map<ObjectId, std::uint64_t> objects_;
};

class EventDecoder {
 public:
  /// What is malformed fails `in`.
  Event next(ByteReader& in);

 private:
  std::vector<ObjectId> objects_;
};

}  // namespace weft::trace
