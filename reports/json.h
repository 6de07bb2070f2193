// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The failure report that programs read. Its fields are listed in docs/trace-format.md: new ones
// are added, none is renamed or changes its type.
#pragma once

#include <string>

#include "harness/trace/trace.h"

namespace weft::reports {

inline constexpr int kJsonReportVersion = 1;

/// One object, indented, without a newline at its end. Bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string render_json(const trace::Trace& trace);

}  // namespace weft::reports
