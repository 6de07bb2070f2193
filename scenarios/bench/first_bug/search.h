// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the programs that count executions to the first bug have in common.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <weft/scenario.h>

namespace weft::bench {

inline constexpr const char* kStrategies[] = {"portfolio", "round_robin", "pos", "pct", "random"};

/// Executions until the first finding; `cap` where there is none within it. Says so where the
/// finding is of a kind that nobody expected, and ends the program where the exploration fails.
inline std::uint64_t first_bug(const Scenario& scenario, const std::string& strategy,
                               std::uint64_t seed, const std::string& directory,
                               std::uint64_t cap) {
  Options options;
  options.name = scenario.name;
  options.schedules = cap;
  options.strategy = strategy;
  options.seed = seed;
  options.out = directory;
  options.spurious_wakeups = scenario.spurious_wakeups;
  options.allocation_failures = scenario.allocation_failures;
  options.suppressions = scenario.suppressions;
  const Result result = explore(options, scenario.body);
  if (!result.error.empty()) {
    std::fprintf(stderr, "%s: %s\n", scenario.name.c_str(), result.error.c_str());
    std::exit(2);
  }
  if (result.findings.empty()) return cap;
  const FoundBug& bug = result.findings.front();
  if (scenario.expect.allows(bug.kind)) return bug.execution;
  std::fprintf(stderr, "%s by %s with seed %llu: %s was not expected\n", scenario.name.c_str(),
               strategy.c_str(), static_cast<unsigned long long>(seed), bug.kind.c_str());
  return cap;
}

/// The lower median: a number of executions that was observed. `values` is not empty.
inline std::uint64_t median(std::vector<std::uint64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// DIRECTORY [SEEDS]; false for anything else, which has been complained about.
inline bool parse_arguments(int argc, char** argv, std::string& directory, std::uint64_t& seeds,
                            const char* usage = "DIRECTORY [SEEDS]") {
  bool good = argc == 2 || argc == 3;
  if (argc == 3) {
    const std::string_view text = argv[2];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seeds);
    good = error == std::errc{} && end == text.data() + text.size() && seeds != 0;
  }
  if (good) {
    directory = argv[1];
  } else {
    std::fprintf(stderr, "usage: %s %s\n", argv[0], usage);
  }
  return good;
}

}  // namespace weft::bench
