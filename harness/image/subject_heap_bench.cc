// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the subject heap costs beside libc's: a pair of malloc and free, naming an interior pointer,
// and going back to the baseline after an execution.

#include <benchmark/benchmark.h>

#include <cstdlib>

#include "harness/base/mapped_object.h"
#include "harness/image/subject_heap.h"

namespace weft::image {
namespace {

constexpr BlockEvent kBy{.task = kRootTask, .step = 1, .site = nullptr};

void allocate_and_free(benchmark::State& state) {
  auto heap = make_mapped<SubjectHeap>();
  const auto size = static_cast<std::size_t>(state.range(0));
  std::uint32_t ordinal = 0;
  for (auto _ : state) {
    void* const block = heap->allocate(size, 16, kBy, ordinal++);
    benchmark::DoNotOptimize(heap->free(block, kBy));
  }
}

void libc_malloc_and_free(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    void* const block = std::malloc(size);
    benchmark::DoNotOptimize(block);
    std::free(block);
  }
}

void find_interior_pointer(benchmark::State& state) {
  auto heap = make_mapped<SubjectHeap>();
  auto* const block = static_cast<std::byte*>(heap->allocate(200, 16, kBy, 0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(heap->find(block + 100).object());
  }
}

// An execution with `range(0)` allocations of 64 bytes, all freed, and the reset after it.
void execution_and_reset(benchmark::State& state) {
  auto heap = make_mapped<SubjectHeap>();
  for (auto _ : state) {
    for (std::uint32_t i = 0; i < state.range(0); ++i) {
      heap->free(heap->allocate(64, 16, kBy, i), kBy);
    }
    heap->reset();
  }
}

// The reset of an execution that allocated nothing, over a baseline of `range(0)` blocks of 256
// bytes.
void reset_to_baseline(benchmark::State& state) {
  auto heap = make_mapped<SubjectHeap>();
  for (std::uint32_t i = 0; i < state.range(0); ++i) heap->allocate(256, 16, kBy, i);
  heap->seal();
  for (auto _ : state) heap->reset();
}

BENCHMARK(allocate_and_free)->Arg(16)->Arg(64)->Arg(1024)->Arg(65536);
BENCHMARK(libc_malloc_and_free)->Arg(16)->Arg(64)->Arg(1024)->Arg(65536);
BENCHMARK(find_interior_pointer);
BENCHMARK(execution_and_reset)->Arg(0)->Arg(10)->Arg(100);
BENCHMARK(reset_to_baseline)->Arg(0)->Arg(10)->Arg(1000);

}  // namespace
}  // namespace weft::image
