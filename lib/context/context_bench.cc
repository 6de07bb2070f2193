// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What reading the context costs, beside the ways to read a shared value that leak, lock or count.
// Each is run by one and by two threads, with the value at rest and with a writer that replaces it
// as fast as it can. items_per_second is reads; swaps is how many times a second the writer
// replaced it, which differs: one that waits for its readers leaves them alone meanwhile.

#include <benchmark/benchmark.h>

#ifdef WEFT_HAS_URCU
#include <urcu/static/urcu-memb.h>
#include <urcu/urcu-memb.h>
#endif

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "lib/context/context.h"

namespace weftrt {
namespace {

// Replaces without pause while it lives. Thread 0 of a benchmark owns it.
template <class Replace>
class Writer {
 public:
  explicit Writer(Replace replace)
      : thread_([this, replace] {
          const auto begun = std::chrono::steady_clock::now();
          std::uint64_t i = 0;
          for (; !stop_.load(std::memory_order_relaxed); ++i) replace(i);
          const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
          per_second_ = static_cast<double>(i) / took.count();
        }) {}
  // Stops it. Replacements a second.
  double rate() {
    stop_.store(true, std::memory_order_relaxed);
    thread_.join();
    return per_second_;
  }

 private:
  std::atomic<bool> stop_{false};
  double per_second_ = 0;
  std::thread thread_;
};

// Runs `read` in the timed loop; range(0) says whether a writer runs beside it.
template <class Read, class Replace>
void measure(benchmark::State& state, Read read, Replace replace) {
  std::unique_ptr<Writer<Replace>> writer;
  if (state.range(0) != 0 && state.thread_index() == 0)
    writer = std::make_unique<Writer<Replace>>(replace);
  // Unrolled, because the loop itself would cost as much as the fastest reads, and one cycle or two
  // by where it happens to lie.
  constexpr int kBatch = 8;
  while (state.KeepRunningBatch(kBatch)) {
#pragma GCC unroll 8
    for (int i = 0; i < kBatch; ++i) benchmark::DoNotOptimize(read());
  }
  state.SetItemsProcessed(state.iterations());
  if (writer != nullptr) state.counters["swaps"] = writer->rate();
}

// What is read: both halves of an allocator, as a caller does who allocates now and deallocates
// later. What is replaced: its state.
struct Halves {
  Allocator::AllocateFn allocate_fn;
  void* state;
};
Halves halves_of(const ContextImpl& impl) {
  const Allocator& allocator = impl.on(DeviceKind::kCpu).allocator;
  return {allocator.allocate_fn, allocator.state};
}
void set_state_of(ContextImpl& impl, std::uint64_t i) {
  impl.on(DeviceKind::kCpu).allocator.state = reinterpret_cast<void*>(i);
}

void replace_context(std::uint64_t i) {
  update_global([i](ContextImpl& impl) { set_state_of(impl, i); });
}

void context_current(benchmark::State& state) {
  const auto read = [] { return halves_of(current()); };
  measure(state, read, &replace_context);
}

void context_pin(benchmark::State& state) {
  const auto read = [] { return halves_of(*pin()); };
  measure(state, read, &replace_context);
}

// The founding proposal's sketch: the same two dependent loads, and replaced values are never
// freed. Its writer alternates between two, so that the benchmark's memory stays bounded.
struct LeakyCell {
  std::atomic<const ContextImpl*> impl;
};
const ContextImpl g_leaky_impls[2];
LeakyCell g_leaky_cell{.impl = &g_leaky_impls[0]};
constinit thread_local LeakyCell* t_leaky_cell = &g_leaky_cell;

void context_leaky(benchmark::State& state) {
  measure(
      state, [] { return halves_of(*t_leaky_cell->impl.load(std::memory_order_acquire)); },
      [](std::uint64_t i) {
        // release: pairs with the acquire above.
        g_leaky_cell.impl.store(&g_leaky_impls[i % 2], std::memory_order_release);
      });
}

std::atomic<std::shared_ptr<const ContextImpl>>& atomic_shared() {
  static std::atomic<std::shared_ptr<const ContextImpl>> shared(std::make_shared<ContextImpl>());
  return shared;
}

void context_atomic_shared_ptr(benchmark::State& state) {
  measure(
      state, [] { return halves_of(*atomic_shared().load()); },
      [](std::uint64_t i) {
        auto next = std::make_shared<ContextImpl>();
        set_state_of(*next, i);
        atomic_shared().store(std::move(next));
      });
}

std::mutex g_shared_mutex;
std::shared_ptr<const ContextImpl>& mutex_shared() {
  static auto shared = std::make_shared<const ContextImpl>();
  return shared;
}

void context_mutex_shared_ptr(benchmark::State& state) {
  measure(
      state,
      [] {
        std::unique_lock lock(g_shared_mutex);
        const std::shared_ptr<const ContextImpl> impl = mutex_shared();
        lock.unlock();
        return halves_of(*impl);
      },
      [](std::uint64_t i) {
        auto next = std::make_shared<ContextImpl>();
        set_state_of(*next, i);
        const std::lock_guard lock(g_shared_mutex);
        mutex_shared() = std::move(next);
      });
}

#ifdef WEFT_HAS_URCU
// Userspace RCU: what a read-side section costs where a writer waits for readers before it frees.
// With the inline forms of lock and unlock (the underscore is liburcu's), which are the fastest,
// and which its licence lets anyone use: they are of less than ten lines.
std::atomic<ContextImpl*> g_urcu_impl{new ContextImpl};

void context_urcu_memb(benchmark::State& state) {
  urcu_memb_register_thread();
  measure(
      state,
      [] {
        _urcu_memb_read_lock();
        // acquire: pairs with the exchange below.
        const Halves halves = halves_of(*g_urcu_impl.load(std::memory_order_acquire));
        _urcu_memb_read_unlock();
        return halves;
      },
      [](std::uint64_t i) {
        auto next = std::make_unique<ContextImpl>();
        set_state_of(*next, i);
        const std::unique_ptr<ContextImpl> former(
            g_urcu_impl.exchange(next.release(), std::memory_order_acq_rel));
        urcu_memb_synchronize_rcu();
      });
  urcu_memb_unregister_thread();
}
#endif

// From the call of swap_global() to its return, with range(0) threads that read without pause.
void context_swap(benchmark::State& state) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> readers;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    readers.emplace_back([&] {
      while (!stop.load(std::memory_order_relaxed)) benchmark::DoNotOptimize(halves_of(current()));
    });
  }
  ContextImpl next = current();
  for (auto _ : state) next = swap_global(std::move(next));
  stop.store(true, std::memory_order_relaxed);
  for (std::thread& reader : readers) reader.join();
}

void context_update(benchmark::State& state) {
  std::uint64_t i = 0;
  for (auto _ : state) replace_context(++i);
  state.SetItemsProcessed(state.iterations());
}

void alone_and_beside_a_writer(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("writer")->Arg(0)->Arg(1)->ThreadRange(1, 2)->UseRealTime();
}

BENCHMARK(context_current)->Name("context/current")->Apply(alone_and_beside_a_writer);
BENCHMARK(context_pin)->Name("context/pin")->Apply(alone_and_beside_a_writer);
BENCHMARK(context_leaky)->Name("context/leaky")->Apply(alone_and_beside_a_writer);
BENCHMARK(context_atomic_shared_ptr)
    ->Name("context/atomic_shared_ptr")
    ->Apply(alone_and_beside_a_writer);
BENCHMARK(context_mutex_shared_ptr)
    ->Name("context/mutex_shared_ptr")
    ->Apply(alone_and_beside_a_writer);
#ifdef WEFT_HAS_URCU
BENCHMARK(context_urcu_memb)->Name("context/urcu_memb")->Apply(alone_and_beside_a_writer);
#endif
BENCHMARK(context_swap)->Name("context/swap")->ArgName("readers")->Arg(0)->Arg(1)->UseRealTime();
BENCHMARK(context_update)->Name("context/update")->ThreadRange(1, 2)->UseRealTime();

}  // namespace
}  // namespace weftrt
