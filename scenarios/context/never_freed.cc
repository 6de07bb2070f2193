// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A thread reads the context while another replaces it. The mutant's cell keeps
// its own share in the count of what it lets go, so that no last reader ever
// frees it.

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "lib/context/context.h"
#include "scenarios/runtime_story.h"

namespace {

WEFT_SCENARIO(never_freed, {.name = "context/never_freed" WEFT_VARIANT,
                            .summary = by_variant("a replaced context outlives its last reader",
                                                  "a replaced context goes with its last reader"),
                            .expect = expect_with_mutant("assertion"),
                            .budget = 500}) {
  (void)rt::current();
  std::thread reader([] { (void)rt::current(); });
  rt::update_global([](rt::ContextImpl& impl) { impl.seed_all(7); });
  reader.join();

  assert(rt::current().seed() == 7);
  assert(rt::live_implementations() == 1);
}

/// What is in use, by its users' own account. The image of each execution begins with zeros.
std::atomic<std::size_t> threads_that_read{0};
std::atomic<std::size_t> pins{0};

// The bound of lib/context/context.h, invariant 5, after every step: one thread changes the context
// while two read and pin it.
WEFT_SCENARIO(bound, {.name = "context/bound" WEFT_VARIANT,
                      .summary = by_variant("more contexts are alive than are in use",
                                            "no more contexts are alive than are in use"),
                      .expect = expect_with_mutant("invariant"),
                      .budget = 2000}) {
  weft::invariant([] { return rt::live_implementations() <= threads_that_read + pins + 2; },
                  "contexts alive <= threads that read + pins + 2");
  const auto read = [] {
    ++threads_that_read;
    for (int i = 0; i < 2; ++i) {
      ++pins;
      {
        const rt::ContextPin pinned = rt::pin();
        (void)rt::current();
      }
      --pins;
    }
  };
  std::thread one(read);
  std::thread other(read);
  ++threads_that_read;
  // More often than is allowed for: three threads, two pins, and two.
  for (std::uint64_t i = 1; i <= 8; ++i) {
    rt::update_global([i](rt::ContextImpl& impl) { impl.seed_all(i); });
    (void)rt::current();
  }
  one.join();
  other.join();
}

}  // namespace
