// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the models of prior art cost, in the same run as what the runtime does instead. Each row is
// what a thread pays each time it wants to know: one thread, and two that want to know at once.
// What each breaks is in the head of its header.

#include <benchmark/benchmark.h>

#include <cstdint>

#include "lib/context/operators.h"
#include "lib/stash/stash.h"
#include "scenarios/prior_art/flag_registry.h"
#include "scenarios/prior_art/growing_table.h"
#include "scenarios/prior_art/import_time.h"
#include "scenarios/prior_art/process_globals.h"
#include "scenarios/prior_art/published_pointer.h"
#include "scenarios/prior_art/tensor_context.h"

namespace weft::prior_art {
namespace {

template <class Ask>
void measure(benchmark::State& state, Ask ask) {
  for (auto _ : state) benchmark::DoNotOptimize(ask());
  state.SetItemsProcessed(state.iterations());
}

int add_one(int x) { return x + 1; }

// A result takes over its operand's context: the count goes up, and down with the result.
void tensor_carries(benchmark::State& state) {
  static const Tensor operand(GlobalContext::get());
  measure(state, [] { return TensorContextPtr(operand.context())->allocator.allocate; });
}
void tensor_getter(benchmark::State& state) {
  measure(state, [] { return GlobalContext::get()->allocator.allocate; });
}

void two_globals(benchmark::State& state) {
  static const ProcessGlobals globals(kMarked<1>);
  measure(state, [] { return globals.get().deallocate; });
}
void one_global(benchmark::State& state) {
  static const OneGlobal global(kMarked<1>);
  measure(state, [] { return global.get().deallocate; });
}
void flag_by_name(benchmark::State& state) {
  static int variable = 1;
  static FlagRegistry& flags = *[] {
    auto* const registry = new FlagRegistry(FlagRegistry::Again::kRefused);
    registry->add("workers", &variable);
    return registry;
  }();
  measure(state, [] { return flags.get("workers"); });
}

void set_up_at_import(benchmark::State& state) {
  import_module();
  measure(state, [] { return imported_trees().enabled; });
}
void set_up_lazily(benchmark::State& state) {
  measure(state, [] { return lazy_trees().enabled; });
}

template <class Cell>
void published(benchmark::State& state) {
  static const Cell cell(kMarked<1>);
  measure(state, [] { return cell.read([](const Allocator& a) { return a.deallocate; }); });
}

void growing_table(benchmark::State& state) {
  static GrowingTable<false>& table = *[] {
    auto* const made = new GrowingTable<false>(8);
    made->add(3, &add_one);
    return made;
  }();
  measure(state, [] { return table.find(3)(1); });
}
// What it takes for a piece of work to see one table: a copy here, nothing in the runtime, whose
// context holds one.
void growing_table_copy(benchmark::State& state) {
  static GrowingTable<false>& table = *[] {
    auto* const made = new GrowingTable<false>(8);
    made->add(3, &add_one);
    return made;
  }();
  measure(state, [] { return table.copy().find(3)(1); });
}
void growing_table_add(benchmark::State& state) {
  GrowingTable<false> table(8);
  measure(state, [&] {
    table.add(3, &add_one);
    return 0;
  });
}

const weftrt::Operator<int(int)> kAddOne("prior_art_bench.add_one");

void runtime_context(benchmark::State& state) {
  measure(state,
          [] { return weftrt::current().on(weftrt::DeviceKind::kCpu).allocator.deallocate_fn; });
}
void runtime_operator(benchmark::State& state) {
  weftrt::register_operator(kAddOne, weftrt::DeviceKind::kCpu, &add_one);
  measure(state, [] { return weftrt::call(kAddOne, weftrt::DeviceKind::kCpu, 1); });
}
void runtime_register(benchmark::State& state) {
  measure(state,
          [] { return weftrt::register_operator(kAddOne, weftrt::DeviceKind::kCpu, &add_one); });
}
const weftrt::StashKey<Trees> kTrees("prior_art_bench.trees", weftrt::StashRule::kPrivate,
                                     [] { return std::make_shared<Trees>(); });

void runtime_stash(benchmark::State& state) {
  measure(state, [] { return weftrt::stash::get_or_init(kTrees)->enabled; });
}
void runtime_stash_find(benchmark::State& state) {
  (void)weftrt::stash::get_or_init(kTrees);
  measure(state, [] { return weftrt::stash::find(kTrees)->enabled; });
}

void row(const char* name, void (*run)(benchmark::State&), int most_threads = 2) {
  benchmark::RegisterBenchmark(name, run)->ThreadRange(1, most_threads)->UseRealTime();
}

[[maybe_unused]] const bool registered = [] {
  row("context/tensor_carries", &tensor_carries);
  row("context/tensor_getter", &tensor_getter);
  row("context/two_globals", &two_globals);
  row("context/one_global", &one_global);
  row("context/flag_by_name", &flag_by_name);
  row("context/published_leaky", &published<Leaky>);
  row("context/published_eager", &published<Eager>);
  row("context/published_shared", &published<Shared>);
  row("context/runtime", &runtime_context);
  row("stash/set_up_at_import", &set_up_at_import);
  row("stash/set_up_lazily", &set_up_lazily);
  row("stash/runtime", &runtime_stash);
  row("stash/runtime_find", &runtime_stash_find);
  row("table/growing", &growing_table);
  row("table/runtime", &runtime_operator);
  row("table/growing_copy", &growing_table_copy);
  row("table/growing_add", &growing_table_add, 1);
  row("table/runtime_register", &runtime_register, 1);
  return true;
}();

}  // namespace
}  // namespace weft::prior_art
