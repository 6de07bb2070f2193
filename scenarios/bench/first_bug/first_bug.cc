// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Executions until the first bug: the median over many seeds, for each buggy
// program of scenarios/bench and each strategy, beside the best that other
// tools need (docs/peers.md says which, and how they were measured).
//
//   weft_first_bug DIRECTORY [SEEDS]    DIRECTORY takes what explorations leave behind
//
// Exit status: 0 where our best strategy needs no more executions than the
// peers' best on every program, 1 otherwise, 2 for a bad argument.

#include "scenarios/bench/first_bug/search.h"

namespace weft::bench {
namespace {

/// A seed that finds nothing within the cap counts as the cap: the median does not mind.
constexpr std::uint64_t kCap = 20'000;

struct Program {
  const char* scenario;
  std::uint64_t peers_best;  // executions; 0: no figure
  const char* peer;
};

constexpr Program kPrograms[] = {
    {"bench/a_counter.buggy", 1, "loom"},
    {"bench/b_abba.buggy", 1, "C11Tester"},
    {"bench/d_dcl.buggy", 1, "loom, C11Tester, Lotto"},
    {"bench/e_queue.buggy", 3, "Lotto POS"},
    {"bench/e0_onecv.buggy", 0, "not measured"},
};

const Scenario* find(std::string_view name) {
  for (const Scenario& scenario : scenarios()) {
    if (scenario.name == name) return &scenario;
  }
  return nullptr;
}

struct Best {
  std::uint64_t executions = kCap + 1;
  const char* strategy = "";
};

Best print_row(const Program& program, std::uint64_t seeds, const std::string& directory) {
  const Scenario* scenario = find(program.scenario);
  if (scenario == nullptr) {
    std::fprintf(stderr, "weft_first_bug: there is no scenario %s\n", program.scenario);
    std::exit(2);
  }
  Best best;
  std::printf("%-24s", program.scenario);
  for (const char* strategy : kStrategies) {
    std::vector<std::uint64_t> found;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      found.push_back(first_bug(*scenario, strategy, seed, directory, kCap));
    }
    const std::uint64_t executions = median(std::move(found));
    if (executions < best.executions) best = {executions, strategy};
    std::printf("%12llu", static_cast<unsigned long long>(executions));
    std::fflush(stdout);
  }
  if (program.peers_best == 0) {
    std::printf("%12s  %s\n", "-", program.peer);
  } else {
    std::printf("%12llu  %s\n", static_cast<unsigned long long>(program.peers_best), program.peer);
  }
  return best;
}

int run(const std::string& directory, std::uint64_t seeds) {
  std::printf("median executions to the first bug, %llu seeds\n%-24s",
              static_cast<unsigned long long>(seeds), "program");
  for (const char* strategy : kStrategies) std::printf("%12s", strategy);
  std::printf("%12s\n", "peers' best");
  int compared = 0;
  int no_worse = 0;
  std::string named;
  for (const Program& program : kPrograms) {
    const Best best = print_row(program, seeds, directory);
    if (program.peers_best == 0) continue;
    ++compared;
    if (best.executions <= program.peers_best) ++no_worse;
    named.append(named.empty() ? "" : ", ").append(program.scenario).append(" ");
    named.append(std::to_string(best.executions)).append(" by ").append(best.strategy);
  }
  std::printf("%s\n%d of %d programs: no more executions than the peers' best\n", named.c_str(),
              no_worse, compared);
  return no_worse == compared ? 0 : 1;
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  std::string directory;
  std::uint64_t seeds = 100;
  if (!weft::bench::parse_arguments(argc, argv, directory, seeds)) return 2;
  return weft::bench::run(directory, seeds);
}
