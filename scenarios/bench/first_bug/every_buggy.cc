// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Executions until the first bug, over many seeds, for every buggy scenario and
// each strategy: the median, and the most.
//
//   weft_every_buggy DIRECTORY [SEEDS]    DIRECTORY takes what explorations leave behind
//
// Exit status: 0 where every scenario's best strategy needs no more than 50
// executions in the median, and finds the bug within 5,000 with every seed; 1
// otherwise, 2 for a bad argument.

#include "scenarios/bench/first_bug/search.h"

namespace weft::bench {
namespace {

constexpr std::uint64_t kMedianAllowed = 50;
constexpr std::uint64_t kCap = 5000;

struct Figures {
  std::uint64_t median = 0;
  std::uint64_t most = 0;  // kCap: some seed found nothing
};

Figures figures(const Scenario& scenario, const char* strategy, std::uint64_t seeds,
                const std::string& directory) {
  std::vector<std::uint64_t> found;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    found.push_back(first_bug(scenario, strategy, seed, directory, kCap));
  const std::uint64_t most = *std::max_element(found.begin(), found.end());
  return {median(std::move(found)), most};
}

/// Prints a line; whether the best strategy keeps the limits.
bool examine(const Scenario& scenario, std::uint64_t seeds, const std::string& directory) {
  std::printf("%-36s", scenario.name.c_str());
  Figures best;
  const char* name = nullptr;
  for (const char* strategy : kStrategies) {
    const Figures now = figures(scenario, strategy, seeds, directory);
    if (name == nullptr || now.median < best.median ||
        (now.median == best.median && now.most < best.most)) {
      best = now;
      name = strategy;
    }
    std::printf("%6llu %-5llu", static_cast<unsigned long long>(now.median),
                static_cast<unsigned long long>(now.most));
    std::fflush(stdout);
  }
  const bool good = best.median <= kMedianAllowed && best.most < kCap;
  std::printf("  %s%s\n", name, good ? "" : "  <-- over the limits");
  return good;
}

int run(const std::string& directory, std::uint64_t seeds) {
  std::printf("executions to the first bug, %llu seeds: median, most\n%-36s",
              static_cast<unsigned long long>(seeds), "scenario");
  for (const char* strategy : kStrategies) std::printf("%12s", strategy);
  std::printf("  best\n");
  int all = 0;
  int good = 0;
  for (const Scenario& scenario : scenarios()) {
    if (!scenario.expect.must_find || scenario.canary) continue;
    ++all;
    if (examine(scenario, seeds, directory)) ++good;
  }
  std::printf(
      "%d of %d buggy scenarios: median of the best strategy at most %llu, all seeds within %llu\n",
      good, all, static_cast<unsigned long long>(kMedianAllowed),
      static_cast<unsigned long long>(kCap));
  return good == all ? 0 : 1;
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  std::string directory;
  std::uint64_t seeds = 100;
  if (!weft::bench::parse_arguments(argc, argv, directory, seeds)) return 2;
  return weft::bench::run(directory, seeds);
}
