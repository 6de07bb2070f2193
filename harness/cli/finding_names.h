// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "harness/trace/channel.h"
#include "harness/trace/symbolizer.h"

namespace weft::cli {

/// By what a suppression may know a finding: the function, file and module of every frame on
/// either side of a race or in a deadlock's cycle, and the global variable that it is about.
[[nodiscard]] std::vector<std::string> names_of(const trace::Channel& channel,
                                                trace::Symbolizer& symbolizer);

/// Where a race is to its reader: the lines of source of both accesses, in no order, and what is
/// known of the variable. `++x` against itself is a read and a write that race, and two writes, at
/// one such place. 0: unknown.
[[nodiscard]] std::uint64_t lines_of_race(const trace::Channel& channel,
                                          trace::Symbolizer& symbolizer);

}  // namespace weft::cli
