// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The mixed program on threads that the machine schedules: `weft_mixed_native run mixed/native`.

#include <weft/scenario.h>

#include "scenarios/mixed/operations.h"
#include "scenarios/mixed/world.h"

namespace weft::mixed {
namespace {

WEFT_SCENARIO(native_program, {.name = "mixed/native",
                               .summary = "a random program of all that the runtime offers",
                               .expect = must_pass(),
                               .budget = 1000}) {
  const Copy copies[] = {WEFT_RT::runtime()};
  run_program(choose(std::uint64_t{1} << 32U), copies);
}

}  // namespace
}  // namespace weft::mixed
