// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the look through the code costs at start-up, by module, once its pages are in memory.

#include <benchmark/benchmark.h>
#include <link.h>

#include <string_view>

#include "harness/executor/direct_tls.h"

namespace weft::executor {
namespace {

std::size_t code_bytes(const dl_phdr_info& module) {
  std::size_t bytes = 0;
  for (const ElfW(Phdr) & header : std::span(module.dlpi_phdr, module.dlpi_phnum)) {
    if (header.p_type == PT_LOAD && (header.p_flags & PF_X) != 0) bytes += header.p_filesz;
  }
  return bytes;
}

// libstdc++ has no direct use, so all of it is looked at.
void look_through_the_standard_library(benchmark::State& state) {
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* context) {
        if (std::string_view(info->dlpi_name).find("libstdc++") == std::string_view::npos) return 0;
        auto& running = *static_cast<benchmark::State*>(context);
        DirectTls first;
        for (auto _ : running) benchmark::DoNotOptimize(find_direct_tls(*info, first));
        running.SetBytesProcessed(running.iterations() *
                                  static_cast<std::int64_t>(code_bytes(*info)));
        return 1;
      },
      &state);
}

// All modules, libc included, to their end.
void look_through_everything(benchmark::State& state) {
  ExemptTls found[32];
  for (auto _ : state) benchmark::DoNotOptimize(find_exempt_tls(found));
}

BENCHMARK(look_through_the_standard_library)->Unit(benchmark::kMicrosecond);
BENCHMARK(look_through_everything)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace weft::executor
