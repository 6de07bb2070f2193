// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The failure report that people read.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/trace/trace.h"

namespace weft::reports {

/// What "no limit" means below.
inline constexpr std::size_t kAllLines = ~std::size_t{0};

/// The current directory, so that paths below it are shown as an editor started there takes them.
[[nodiscard]] std::string current_directory();

struct TextOptions {
  bool colour = false;
  std::string root = current_directory();  // cut off the paths that begin with it
  std::size_t schedule_lines = kAllLines;  // of a longer schedule the last ones are shown
  std::size_t output_lines = 20;           // likewise of what the test wrote
  std::vector<std::string> paste = {};     // command lines to end with
};

/// Headline, message, who waits for whom, stacks, every step, output. Ends with a newline.
[[nodiscard]] std::string render_text(const trace::Trace& trace, const TextOptions& options = {});

}  // namespace weft::reports
