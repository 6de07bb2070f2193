// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the programs of this directory share: the small programs that other
// tools were measured on, so that figures can be set side by side.
//
// Each source is compiled twice: instrumented, as scenarios for exploration,
// and with WEFT_BENCH_NATIVE as plain code that `weft_bench` runs on bare
// threads. Everything in it has internal linkage, so that both copies may share
// an executable. A program sets its static state itself, at the start of each
// run: bare threads have nobody who would.
#pragma once

#include <pthread.h>

#include <array>
#include <cstddef>

#include <weft/scenario.h>

#ifdef WEFT_BENCH_NATIVE
#include "scenarios/bench/native.h"
#endif

namespace weft::bench {

enum class Variant { kBuggy, kFixed };

namespace {

/// Starts `bodies` on a thread each and waits for all of them.
template <std::size_t kCount>
void run_threads(void* (*const (&bodies)[kCount])(void*)) {
  std::array<pthread_t, kCount> threads;
  for (std::size_t i = 0; i < kCount; ++i) pthread_create(&threads[i], nullptr, bodies[i], nullptr);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
}

}  // namespace
}  // namespace weft::bench

#ifdef WEFT_BENCH_NATIVE
#define WEFT_BENCH_REGISTER_NATIVE(identifier, name)           \
  static void identifier();                                    \
  [[maybe_unused]] static const bool identifier##_registered = \
      ::weft::bench::register_native(name, &(identifier));     \
  static void identifier()
#endif

/// A WEFT_SCENARIO that is also a native program of the benchmark.
#ifdef WEFT_BENCH_NATIVE
#define WEFT_BENCH_SCENARIO(identifier, ...) \
  WEFT_BENCH_REGISTER_NATIVE(identifier, (::weft::Scenario __VA_ARGS__).name)
#else
#define WEFT_BENCH_SCENARIO(identifier, ...) WEFT_SCENARIO(identifier, __VA_ARGS__)
#endif

/// A variant that only weak memory or a race detector can fault. No expectation
/// about it can be held to while execution is sequentially consistent, so it runs
/// natively alone.
#ifdef WEFT_BENCH_NATIVE
#define WEFT_BENCH_UNCHECKED(identifier, name) WEFT_BENCH_REGISTER_NATIVE(identifier, name)
#else
#define WEFT_BENCH_UNCHECKED(identifier, name) [[maybe_unused]] static void identifier()
#endif
