// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a test says, handed to the engine where there is one listening.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <weft/framework.h>
#include <weft/weft.h>

#include "harness/engine/test_api.h"

/// Of the function that this is written in.
#define WEFT_RETURN_ADDRESS() reinterpret_cast<std::uintptr_t>(__builtin_return_address(0))

namespace weft {

// Not inlined into anything, for the return address is the place in the test.
[[gnu::noinline]] void always(bool condition, const char* what) {
  if (engine::on_task()) {
    engine::check_always(condition, what, WEFT_RETURN_ADDRESS());
    return;
  }
  if (condition) return;
  std::fprintf(stderr, "weft::always failed outside an exploration: %s\n", what);
  std::abort();
}

void sometimes(bool condition, const char* what) {
  if (engine::on_task()) engine::mark_sometimes(condition, what);
}

[[gnu::noinline]] std::uint64_t choose(std::uint64_t n) {
  if (!engine::on_task() || n == 1) return 0;
  return engine::choose(n, WEFT_RETURN_ADDRESS());
}

void invariant(std::function<bool()> holds, const char* what) {
  if (!engine::on_task()) return;
  // In the subject's heap: it goes away with the execution.
  auto* context = new std::function<bool()>(std::move(holds));
  engine::add_invariant(
      [](void* function) { return (*static_cast<std::function<bool()>*>(function))(); }, context,
      what);
}

void bounded_bypass(std::uint64_t n) {
  if (engine::on_task()) engine::bound_bypass(0, n);
}

void bounded_bypass(const volatile void* lock, std::uint64_t n) {
  if (engine::on_task()) engine::bound_bypass(reinterpret_cast<std::uintptr_t>(lock), n);
}

bool exploring() noexcept { return engine::on_task(); }

void framework::fail(const char* file, int line, const char* message) {
  engine::report_expectation(file, line, message);
}

}  // namespace weft
