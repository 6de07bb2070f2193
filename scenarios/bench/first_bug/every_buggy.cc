// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Executions until the first bug of one buggy scenario, over many seeds, for
// each strategy: the median, and the most. scripts/evidence every-buggy runs it
// for each, as many at a time as there are processors.
//
//   weft_every_buggy DIRECTORY SEEDS SCENARIO    DIRECTORY takes what explorations leave behind
//
// Exit status: 0 where the best strategy needs no more than 50 executions in the
// median, and finds the bug within 5,000 with every seed; 1 otherwise, 2 for a
// bad argument.

#include <string>

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

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size() + 1), ' ');
  return text;
}

/// Prints a line, in one piece; whether the best strategy keeps the limits.
bool examine(const Scenario& scenario, std::uint64_t seeds, const std::string& directory) {
  std::string line = padded(scenario.name, 38);
  Figures best;
  const char* name = nullptr;
  for (const char* strategy : kStrategies) {
    const Figures now = figures(scenario, strategy, seeds, directory);
    if (name == nullptr || now.median < best.median ||
        (now.median == best.median && now.most < best.most)) {
      best = now;
      name = strategy;
    }
    line += padded(std::to_string(now.median) + " " + std::to_string(now.most), 12);
  }
  const bool good = best.median <= kMedianAllowed && best.most < kCap;
  std::printf("%s%s%s\n", line.c_str(), name, good ? "" : "  <-- over the limits");
  return good;
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  using namespace weft::bench;
  std::string directory;
  std::uint64_t seeds = 0;
  const char* wanted = argc == 4 ? argv[3] : "";
  // Anything but four arguments is too few for the parser.
  const int parsed = argc == 4 ? 3 : 1;
  if (!parse_arguments(parsed, argv, directory, seeds, "DIRECTORY SEEDS SCENARIO")) return 2;
  for (const weft::Scenario& scenario : weft::scenarios()) {
    if (scenario.name == wanted && scenario.expect.must_find) {
      return examine(scenario, seeds, directory) ? 0 : 1;
    }
  }
  std::fprintf(stderr, "weft_every_buggy: '%s' is no scenario that must find something\n", wanted);
  return 2;
}
