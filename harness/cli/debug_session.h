// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A token followed once more, with gdb at the place of interest.
//
// gdb comes when the worker is there, not before: what leads up to it happens as in any replay,
// hangs included, and gdb is not started for nothing.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <weft/weft.h>

#include "harness/base/ids.h"
#include "harness/trace/token.h"

namespace weft::cli {

struct DebugPlan {
  std::string gdb;                       // as find_gdb() found it
  std::vector<std::string> arguments;    // for gdb, after ours
  std::optional<StepIndex> before_step;  // none: at the finding
  bool in_warm_up = false;               // the finding is there
};

struct DebugResult {
  std::string end;       // how it ended, for a line
  std::string error;     // it did not come to a stop, or not to gdb
  bool strayed = false;  // not to a stop: this replay did something else
};

/// `options` are the token's, and say under which executor. Returns when gdb and the worker are
/// gone.
[[nodiscard]] DebugResult debug(const trace::Token& token, const Options& options,
                                const DebugPlan& plan, const std::function<void()>& body);

}  // namespace weft::cli
