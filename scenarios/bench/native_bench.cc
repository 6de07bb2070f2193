// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// native/PROGRAM: the programs of this directory on bare threads, a run after
// the other. Their sources are compiled a second time for it, without
// instrumentation; outside an exploration the harness's pthread functions hand
// each call on to libc's.

#include <benchmark/benchmark.h>

#include <string>
#include <string_view>

#include "scenarios/bench/native.h"

namespace weft::bench {
namespace {

constexpr std::string_view kPrefix = "bench/";
constexpr std::string_view kSuffix = ".fixed";

}  // namespace

bool register_native(std::string_view name, void (*run)()) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return true;
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(kSuffix.size());
  benchmark::RegisterBenchmark(("native/" + std::string(name)).c_str(), [run](auto& state) {
    for (auto _ : state) run();
    state.SetItemsProcessed(state.iterations());
  })->UseRealTime();
  return true;
}

}  // namespace weft::bench
