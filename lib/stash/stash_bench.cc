// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the stash costs: a look-up among range(0) keys, and handing a thread's state to another.

#include "lib/stash/stash.h"

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/context/override.h"
#include "lib/threads/inherited_state.h"

namespace weftrt {
namespace {

// Stashes an object under each of `count` keys while it lives.
class Stashed {
 public:
  explicit Stashed(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      keys_.emplace_back("stash_bench." + std::to_string(i), StashRule::kReplace);
      stash::set(keys_.back(), std::make_shared<int>(static_cast<int>(i)));
    }
  }
  ~Stashed() {
    for (const StashKey<int>& key : keys_) (void)stash::erase(key);
  }
  Stashed(const Stashed&) = delete;
  Stashed& operator=(const Stashed&) = delete;

  [[nodiscard]] const StashKey<int>& newest() const { return keys_.back(); }

 private:
  std::vector<StashKey<int>> keys_;
};

void stash_find(benchmark::State& state) {
  const Stashed stashed(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(stash::find(stashed.newest()));
}

void stash_get(benchmark::State& state) {
  const Stashed stashed(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(stash::get(stashed.newest()));
}

void state_capture(benchmark::State& state) {
  const Stashed stashed(state.range(0));
  const ContextOverride mine{ContextImpl{}};
  for (auto _ : state) benchmark::DoNotOptimize(capture_inherited_state());
}

void state_restore(benchmark::State& state) {
  const Stashed stashed(state.range(0));
  const ContextOverride mine{ContextImpl{}};
  const InheritedState captured = capture_inherited_state();
  for (auto _ : state) {
    const InheritedStateGuard guard(captured);
    benchmark::ClobberMemory();
  }
}

void with_few_and_many_keys(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("keys")->Arg(1)->Arg(8);
}

BENCHMARK(stash_find)->Name("stash/find")->Apply(with_few_and_many_keys);
BENCHMARK(stash_get)->Name("stash/get")->Apply(with_few_and_many_keys);
BENCHMARK(state_capture)->Name("state/capture")->Apply(with_few_and_many_keys);
BENCHMARK(state_restore)->Name("state/restore")->Apply(with_few_and_many_keys);

}  // namespace
}  // namespace weftrt
