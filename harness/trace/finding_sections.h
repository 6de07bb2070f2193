// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The payloads of the sections that tell of the finding; the others are in sections.cc. Supervisor
// side.
#pragma once

#include <string>

#include "harness/trace/bytes.h"
#include "harness/trace/trace.h"

namespace weft::trace {

void write_finding(ByteWriter& out, const Trace& trace);
void read_finding(ByteReader& in, Trace& trace);

/// The accesses that it is about.
void write_accesses(ByteWriter& out, const Trace& trace);
void read_accesses(ByteReader& in, Trace& trace);

void write_missed_wake(ByteWriter& out, const Trace& trace);
void read_missed_wake(ByteReader& in, Trace& trace);

void write_starved(ByteWriter& out, const Trace& trace);
void read_starved(ByteReader& in, Trace& trace);

void write_weak_pair(ByteWriter& out, const Trace& trace);
void read_weak_pair(ByteReader& in, Trace& trace);

/// Whether every task that the finding names is one of the trace, or none.
[[nodiscard]] bool names_tasks_of(const Trace& trace);

}  // namespace weft::trace
