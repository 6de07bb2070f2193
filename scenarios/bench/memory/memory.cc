// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// weft_memory EXECUTIONS: the worker's peak memory after a thousand executions and after so many.
//
// The system tells the peak of the largest child so far, so the short exploration comes first.

#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <weft/scenario.h>
#include <weft/weft.h>

namespace {

constexpr std::string_view kScenario = "bench/e_queue.fixed";
constexpr std::uint64_t kFew = 1000;

/// Kilobytes; 0 where the exploration did not come to its end.
long peak_after(std::uint64_t executions, void (*body)()) {
  weft::Options options;
  options.name = "memory";
  options.schedules = executions;
  const weft::Result result = weft::explore(options, body);
  if (!result.ok() || result.executions != executions) return 0;
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  return usage.ru_maxrss;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t many = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  for (const weft::Scenario& scenario : weft::scenarios()) {
    if (scenario.name != kScenario) continue;
    const long few_kilobytes = peak_after(kFew, scenario.body);
    const long many_kilobytes = peak_after(many, scenario.body);
    std::printf("%ld KB after %llu executions, %ld KB after %llu\n", few_kilobytes,
                static_cast<unsigned long long>(kFew), many_kilobytes,
                static_cast<unsigned long long>(many));
    return few_kilobytes != 0 && many_kilobytes <= few_kilobytes + few_kilobytes / 100 ? 0 : 1;
  }
  std::fprintf(stderr, "weft_memory: %s is not there\n", kScenario.data());
  return 2;
}
