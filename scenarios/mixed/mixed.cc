// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A random program on one or two copies of the runtime, another with every schedule. With
// WEFT_BUGGY one of the copies is a mutant.

#include <weft/scenario.h>

#include "scenarios/mixed/operations.h"
#include "scenarios/mixed/world.h"

namespace weft::mixed {
namespace weftrt_second {

[[nodiscard]] Copy runtime();

}  // namespace weftrt_second

namespace {

#ifdef WEFT_BUGGY
constexpr const char* kName = "mixed/program_" WEFT_MUTANT ".buggy";
const Expectation kExpect = must_find(WEFT_FINDING, WEFT_OR_FINDING);
#else
constexpr const char* kName = "mixed/program.fixed";
const Expectation kExpect = must_pass();
#endif

WEFT_SCENARIO(program, {.name = kName,
                        .summary = "a random program of all that the runtime offers",
                        .expect = kExpect,
                        .budget = WEFT_BUDGET}) {
  const Copy copies[] = {WEFT_RT::runtime(), weftrt_second::runtime()};
  run_program(choose(std::uint64_t{1} << 32U), copies);
}

}  // namespace
}  // namespace weft::mixed
