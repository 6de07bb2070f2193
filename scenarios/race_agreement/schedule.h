// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Schedules as text, one a line: what was executed in which order, and which
// position first raced.
//
//   PROGRAM SEED POSITION|none THREAD:OP THREAD:OP ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/race_agreement/program.h"

namespace race_agreement {

struct Schedule {
  std::uint64_t program = 0;
  std::uint64_t seed = 0;
  std::optional<std::size_t> race = {};  // index into `order` of the later access
  std::vector<Executed> order = {};
};

[[nodiscard]] std::string format(const Schedule& schedule);
/// Nothing where the line is not one of format()'s for a program that generate() makes.
[[nodiscard]] std::optional<Schedule> parse(const std::string& line);

/// "thread 1 store 3 release".
[[nodiscard]] std::string describe(const Program& program, Executed executed);

}  // namespace race_agreement
