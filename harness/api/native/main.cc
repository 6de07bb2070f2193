// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// weft::main without an engine: `list` and `run PATTERN`, by plain threads.

#include <cstdio>
#include <string>
#include <string_view>

#include <weft/framework.h>
#include <weft/scenario.h>

#include "harness/api/pattern.h"

namespace weft {
namespace {

int usage(int status) {
  std::fputs(
      "usage: PROGRAM list | PROGRAM run PATTERN [--weft_schedules=N] [--weft_seconds=S]\n"
      "Runs scenarios by plain threads: no schedule is controlled, a failed property aborts.\n",
      status == 0 ? stdout : stderr);
  return status;
}

int run(std::string_view pattern) {
  bool matched = false;
  for (const Scenario& scenario : scenarios()) {
    if (!pattern_matches(pattern, scenario.name)) continue;
    matched = true;
    const Result result =
        explore({.name = scenario.name, .schedules = scenario.budget}, scenario.body);
    if (!result.error.empty()) {
      std::fprintf(stderr, "weft: %s\n", result.error.c_str());
      return 2;
    }
    std::printf("%s: %llu runs in %.3f s\n", scenario.name.c_str(),
                static_cast<unsigned long long>(result.executions), result.seconds);
  }
  return matched ? 0 : 5;
}

}  // namespace

int main(int argc, char** argv) {
  if (const std::string error = framework::parse_command_line(&argc, argv); !error.empty()) {
    std::fprintf(stderr, "weft: %s\n", error.c_str());
    return 2;
  }
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "--help") return usage(0);
  if (command == "list" && argc == 2) {
    for (const Scenario& scenario : scenarios()) std::printf("%s\n", scenario.name.c_str());
    return 0;
  }
  if (command == "run" && argc == 3) return run(argv[2]);
  return usage(2);
}

}  // namespace weft
