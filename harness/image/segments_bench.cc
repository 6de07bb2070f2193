// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What restoring costs, by the size of the image and the number of pages that an execution dirtied,
// and what the alternatives in user space cost. raw_memory.h has a table.

#include <benchmark/benchmark.h>

#include <cstring>

#include "harness/base/mapped_object.h"
#include "harness/base/mapping.h"
#include "harness/image/raw_memory.h"
#include "harness/image/segments.h"
#include "harness/image/thread_image.h"

namespace weft::image {
namespace {

struct Images {
  explicit Images(const benchmark::State& state)
      : bytes(static_cast<std::size_t>(state.range(0)) * 1024),
        dirty_pages(static_cast<std::size_t>(state.range(1))),
        live(bytes),
        saved(bytes) {
    std::memset(live.data(), 1, bytes);
    std::memset(saved.data(), 1, bytes);
  }
  // As an execution would: a few words in a few pages.
  void dirty() {
    for (std::size_t page = 0; page < dirty_pages; ++page) {
      std::byte* const start = live.data() + page * (bytes / dirty_pages);
      for (std::size_t word = 0; word < 4; ++word) start[word * 500] ^= std::byte{2};
    }
    benchmark::ClobberMemory();
  }
  std::size_t bytes;
  std::size_t dirty_pages;
  Mapping live;
  Mapping saved;
};

void restore_by_comparing_blocks(benchmark::State& state) {
  Images images(state);
  for (auto _ : state) {
    images.dirty();
    benchmark::DoNotOptimize(
        restore_changed(images.live.data(), images.saved.data(), images.bytes));
  }
}

void restore_by_memcpy(benchmark::State& state) {
  Images images(state);
  for (auto _ : state) {
    images.dirty();
    std::memcpy(images.live.data(), images.saved.data(), images.bytes);
    benchmark::ClobberMemory();
  }
}

void restore_by_string_move(benchmark::State& state) {
  Images images(state);
  for (auto _ : state) {
    images.dirty();
    raw_copy(images.live.data(), images.saved.data(), images.bytes);
  }
}

// Both at once, on the real thing: this program, with libstdc++ and Google Benchmark in it.
void restore_this_process(benchmark::State& state) {
  auto image = make_mapped<SegmentImage>();
  image->snapshot();
  for (auto _ : state) benchmark::DoNotOptimize(image->restore());
  state.counters["covered_bytes"] = static_cast<double>(image->covered_bytes());
}

void reset_thread_locals(benchmark::State& state) {
  auto image = make_mapped<ThreadImage>();
  image->capture();
  for (auto _ : state) image->reset_calling_thread();
  state.counters["covered_bytes"] = static_cast<double>(image->covered_bytes());
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  for (int kilobytes : {16, 64, 256, 1024}) benchmark->Args({kilobytes, 4});
}

BENCHMARK(restore_by_comparing_blocks)->Apply(sizes);
BENCHMARK(restore_by_memcpy)->Apply(sizes);
BENCHMARK(restore_by_string_move)->Apply(sizes);
BENCHMARK(restore_this_process);
BENCHMARK(reset_thread_locals);

}  // namespace
}  // namespace weft::image
