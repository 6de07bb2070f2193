// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Exploration as a benchmark measures it.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include <weft/weft.h>

namespace weft::bench {

struct Measure {
  std::string strategy;
  // Per exploration. It costs one fork, warm-up and wait, 10 ms or so: they should be
  // a few per cent of its executions.
  std::uint64_t executions = 0;
  std::uint64_t items_per_execution = 1;
};

/// One exploration of `body` per iteration. A finding ends the benchmark with an
/// error: nobody should read the speed of executions that went wrong.
inline void measure(benchmark::State& state, const Measure& what, void (*body)()) {
  std::uint64_t executions = 0;
  for (auto _ : state) {
    Options options;
    options.name = "weft_bench";
    options.schedules = what.executions;
    options.strategy = what.strategy;
    const Result result = explore(options, body);
    if (!result.ok()) {
      state.SkipWithError(result.error.empty() ? result.findings.front().message.c_str()
                                               : result.error.c_str());
      return;
    }
    executions += result.executions;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(executions * what.items_per_execution));
}

}  // namespace weft::bench
