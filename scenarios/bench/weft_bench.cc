// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// weft/PROGRAM/STRATEGY: executions per second of the fixed programs of this
// directory, explored; and the main of weft_bench. The time is the whole
// exploration's, of supervisor and worker: fork, warm-up, and every execution from the
// same state.

#include <string>
#include <string_view>

#include <weft/scenario.h>

#include "scenarios/bench/explored_bench.h"

namespace weft::bench {
namespace {

constexpr std::string_view kPrefix = "bench/";
constexpr std::string_view kSuffix = ".fixed";

/// The scenarios register themselves at start-up, so main() calls this.
void register_explored_programs() {
  for (const Scenario& scenario : scenarios()) {
    std::string_view program = scenario.name;
    if (!program.starts_with(kPrefix) || !program.ends_with(kSuffix)) continue;
    program.remove_prefix(kPrefix.size());
    program.remove_suffix(kSuffix.size());
    for (const char* strategy : {"random", "pct", "pos"}) {
      const Measure what = {.strategy = strategy, .executions = 500'000};
      benchmark::RegisterBenchmark(
          ("weft/" + std::string(program) + "/" + strategy).c_str(),
          [what, body = scenario.body](auto& state) { measure(state, what, body); })
          ->UseRealTime();
    }
  }
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  weft::bench::register_explored_programs();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
