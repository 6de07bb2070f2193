// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The payloads of a trace file's sections, one pair of functions each. Supervisor side.
//
// Decoders report what is malformed through the reader alone; references between sections are
// checked by check_references() once all are read.
#pragma once

#include <string>

#include "harness/trace/bytes.h"
#include "harness/trace/trace.h"

namespace weft::trace {

/// A section's name is its first four bytes in the file. That of the events has no `read`: it may
/// be larger than memory.
struct Section {
  char name[5];
  bool required;
  void (*write)(ByteWriter& out, const Trace& trace);
  void (*read)(ByteReader& in, Trace& trace);
};

/// All that this version knows, in file order.
inline constexpr std::size_t kSectionCount = 14;
extern const Section kSections[kSectionCount];

/// What precedes the events in their section.
void write_event_count(ByteWriter& out, const Trace& trace);

/// The first broken invariant of trace.h, or an empty text.
[[nodiscard]] std::string check_references(const Trace& trace);

}  // namespace weft::trace
