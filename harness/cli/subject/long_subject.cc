// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Executions as long as one wants, for long_test.cc and scripts/evidence long: WEFT_LONG_STEPS
// atomic operations (100,000) by two threads, and then a check that fails 99 times in 100, but not
// under the default schedule: a worker's warm-up is one, and must pass.

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <weft/scenario.h>

namespace {

std::uint64_t steps() {
  const char* const text = std::getenv("WEFT_LONG_STEPS");
  return text == nullptr ? 100'000 : std::strtoull(text, nullptr, 10);
}

void count_together(std::uint64_t operations) {
  static std::atomic<std::uint64_t> counter;
  counter = 0;
  const auto count = [operations] {
    for (std::uint64_t i = 0; i < operations / 2; ++i) counter.fetch_add(1);
  };
  std::thread other(count);
  count();
  other.join();
  weft::always(counter == operations / 2 * 2, "nobody is passed over");
  weft::always(weft::choose(100) == 0, "the end is as by default");
}

// The same with a lock and an allocation for each step: what else might grow with an execution.
void allocate_together(std::uint64_t operations) {
  static std::mutex mutex;
  static std::uint64_t counter;
  counter = 0;
  const auto count = [operations] {
    for (std::uint64_t i = 0; i < operations / 4; ++i) {
      const auto one = std::make_unique<std::uint64_t>(1);
      const std::scoped_lock lock(mutex);
      counter += *one;
    }
  };
  std::thread other(count);
  count();
  other.join();
  weft::always(counter == operations / 4 * 2, "no update is lost");
  weft::always(weft::choose(100) == 0, "the end is as by default");
}

}  // namespace

WEFT_SCENARIO(long_count, {.name = "long/count",
                           .summary = "two threads count to WEFT_LONG_STEPS",
                           .expect = weft::must_find("always"),
                           .budget = 10}) {
  count_together(steps());
}

WEFT_SCENARIO(long_allocate, {.name = "long/allocate",
                              .summary = "two threads lock and allocate up to WEFT_LONG_STEPS",
                              .expect = weft::must_find("always"),
                              .budget = 10}) {
  allocate_together(steps());
}
