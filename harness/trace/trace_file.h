// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Traces as files: a header and checksummed sections (docs/trace-format.md). Supervisor side.
//
// The reader takes any file. It names the section that is wrong and why, reserves memory only for
// what the file's own length can hold, and skips sections that it does not know.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/trace/outcome.h"
#include "harness/trace/trace.h"

namespace weft::trace {

inline constexpr std::uint32_t kTraceVersion = 1;

/// The name of a trace's file within a finding's directory.
inline constexpr std::string_view kTraceFileName = "trace.weft";

/// Equal traces give equal bytes. For a trace whose events are all in memory.
[[nodiscard]] std::string encode_trace(const Trace& trace);
[[nodiscard]] Outcome<Trace> decode_trace(std::string_view bytes);

/// Atomically; returns the path.
[[nodiscard]] Outcome<std::string> write_trace(const std::string& path, const Trace& trace);
/// The same with all `events`, of which `trace` may hold the last ones only. In bounded memory.
[[nodiscard]] Outcome<std::string> write_trace(const std::string& path, const Trace& trace,
                                               EventSource& events);
/// `path` may be a directory that holds a trace under its usual name. Of many events the last ones
/// are kept; memory does not depend on how many there are.
[[nodiscard]] Outcome<Trace> read_trace(const std::string& path);

}  // namespace weft::trace
