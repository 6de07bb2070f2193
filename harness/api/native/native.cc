// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The native backend: the api over plain threads, no engine, no interception.
// The same scenarios run on real hardware, under a real sanitizer, in benchmarks.
//
// Thread-safety: all but explore() may be called from any thread. A property that
// does not hold is printed and ends the process: there is no worker to retire.
// Invariants are not checked: between which two steps could they be? Nor are bounds on bypass.

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <weft/framework.h>
#include <weft/scenario.h>

#include "harness/api/options.h"
#include "harness/base/ids.h"
#include "harness/base/prng.h"

namespace weft {
namespace {

constexpr std::uint64_t kDefaultSchedules = 1000;

/// Executions that a mark held in, by its text.
struct Marks {
  std::mutex mutex;
  std::map<std::string, std::uint64_t> hits;
};

Marks& marks() {
  static Marks marks;
  return marks;
}

/// What choose() draws from in this execution; every thread has a generator of its own.
std::atomic<std::uint64_t> current_seed{0};
std::atomic<std::uint64_t> next_thread{0};

[[noreturn]] void end_run(const char* what) {
  std::fprintf(stderr, "weft (native): %s\n", what);
  std::abort();
}

}  // namespace

Result explore(const Options& given, const std::function<void()>& body) {
  using Clock = std::chrono::steady_clock;
  Options options = given;
  Result result;
  result.error = options::apply_overrides(options);
  if (result.error.empty() && !options.replay.empty()) {
    result.error = "the native backend cannot replay: link weft::weft instead of weft::native";
  }
  if (!result.error.empty()) return result;
  const double limit = options.seconds.value_or(0);
  const std::uint64_t schedules =
      options.schedules.value_or(limit > 0 ? ~std::uint64_t{0} : kDefaultSchedules);
  const auto begin = Clock::now();
  while (result.executions < schedules) {
    // relaxed: the threads that read it are created by body(), after this store.
    current_seed.store(fold(options.seed, ++result.executions), std::memory_order_relaxed);
    body();
    result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (limit > 0 && result.seconds >= limit) break;
  }
  const std::lock_guard lock(marks().mutex);
  for (const auto& [text, hits] : marks().hits) {
    if (hits == 0) result.never.push_back(text);
  }
  return result;
}

void always(bool condition, const char* what) {
  if (!condition) end_run(what);
}

void sometimes(bool condition, const char* what) {
  const std::lock_guard lock(marks().mutex);
  marks().hits[what] += condition ? 1 : 0;
}

std::uint64_t choose(std::uint64_t n) {
  if (n == 0) end_run("weft::choose(0): there must be something to choose from");
  thread_local std::uint64_t seeded_by = 0;
  thread_local SplitMix64 generator(0);
  // relaxed: a number to tell threads and executions apart, nothing is published by it.
  const std::uint64_t seed = current_seed.load(std::memory_order_relaxed);
  if (seeded_by != seed) {
    seeded_by = seed;
    generator = SplitMix64(fold(seed, next_thread.fetch_add(1, std::memory_order_relaxed)));
  }
  // The high half of the product; its bias, n / 2^64, is nothing to a test.
  __extension__ using Product = unsigned __int128;
  return static_cast<std::uint64_t>(Product{generator.next()} * n >> 64);
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): it is kept where there is an engine
void invariant(std::function<bool()>, const char*) {}

// Who waits, and who passes by, is not to be seen from here.
void bounded_bypass(std::uint64_t) {}
void bounded_bypass(const volatile void*, std::uint64_t) {}

bool exploring() noexcept { return false; }

namespace framework {

void settle_process(char**) {}
std::string replayed_test(std::string*) { return {}; }
void set_replay_command(const std::string&) {}
void fail(const char*, int, const char* message) { end_run(message); }

}  // namespace framework
}  // namespace weft
