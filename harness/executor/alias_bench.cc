// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// switch/alias: from one task to another and back, without an engine: two switches a round.

#include <benchmark/benchmark.h>

#include <atomic>
#include <new>

#include "harness/base/mapping.h"
#include "harness/executor/identity.h"
#include "harness/executor/stack_switch.h"

namespace weft::executor {
namespace {

struct Pair {
  Mapping stack{64 * 1024};
  void* here = nullptr;
  void* there = nullptr;
};

/// The change of stack and registers alone.
void change_of_stack(benchmark::State& state) {
  Pair pair;
  pair.there = make_context(
      reinterpret_cast<std::uintptr_t>(pair.stack.data()) + pair.stack.size(),
      [](void* argument) {
        auto& self = *static_cast<Pair*>(argument);
        for (;;) weft_switch_stack(&self.there, self.here);
      },
      &pair);
  for (auto _ : state) weft_switch_stack(&pair.here, pair.there);
  state.SetItemsProcessed(2 * state.iterations());
}
BENCHMARK(change_of_stack)->Name("switch/stack");

}  // namespace
}  // namespace weft::executor
