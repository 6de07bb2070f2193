// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Whole files in and out. Supervisor side; failures name the file and the system's reason.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "harness/trace/outcome.h"

namespace weft::trace {

/// The file's bytes; refuses what is no regular file, and more than `max_bytes`.
[[nodiscard]] Outcome<std::string> read_file(const std::string& path, std::size_t max_bytes);

/// Whoever opens `path` sees the old file or all of the new one, also after a crash of the machine:
/// written beside it, flushed to disk, renamed. Returns the path.
[[nodiscard]] Outcome<std::string> write_file_atomically(const std::string& path,
                                                         std::string_view bytes);

}  // namespace weft::trace
