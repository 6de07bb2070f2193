// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The mixed program on threads that the machine schedules:
//
//   weft_mixed_native [--weft_schedules=N] [--weft_seed=N]
//
// runs N random programs, 1,000 where nothing else is said, or ends with what did not hold.

#include <cstdio>

#include <weft/weft.h>

#include "scenarios/mixed/operations.h"
#include "scenarios/mixed/world.h"

int main() {
  using namespace weft::mixed;
  const weft::Result result = weft::explore({.name = "mixed/native"}, [] {
    const Copy copies[] = {WEFT_RT::runtime()};
    run_program(weft::choose(std::uint64_t{1} << 32U), copies);
  });
  if (!result.error.empty()) {
    std::fprintf(stderr, "weft_mixed_native: %s\n", result.error.c_str());
    return 2;
  }
  std::printf("%llu programs in %.1f s, all as they should be\n",
              static_cast<unsigned long long>(result.executions), result.seconds);
  return 0;
}
