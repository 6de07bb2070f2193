// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The schedule as lines of a table, for text and whatever else shows it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/trace/trace.h"

namespace weft::reports {

/// One step, or several in a row that say the same: a loop that spins does so for thousands.
struct ScheduleLine {
  StepIndex first = 0;
  StepIndex last = 0;
  TaskIndex task = kNoTaskIndex;
  bool switched = false;   // another task performed the step before
  bool preempted = false;  // and could have gone on
  std::string what;        // "lock A"
  std::string where;       // "abba.cc:12"
  std::string function;    // "transfer"
};

/// `root` as in place().
[[nodiscard]] std::vector<ScheduleLine> schedule_lines(const trace::Trace& trace,
                                                       const std::string& root);

}  // namespace weft::reports
