// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The mixed program on threads that the machine schedules, on one copy of the runtime or on two, of
// which one is hidden in a shared library: `weft_mixed_native run mixed/native`.
//
// Held to the model as under exploration: what a strand alone determines, at each of its
// operations; each context's history, at the end (its instants are those of locked instructions,
// which order what is around them on x86-64); and that nothing is left then: one implementation,
// no stashed object, no fact asked for twice. The main strand has a thread of its own, so that in
// each program it begins unbound and ends like others.
//
// In between, each strand looks at the counts after each of its operations, while others are in the
// middle of theirs (World::look_around()). That sees less than the invariant of an exploration:
//  - not what is wrong for the length of a few instructions, nor in the middle of an operation;
//  - that an implementation outlives its pin, only at the end: two counters cannot be read at one
//    instant, so an allowance is not taken back while others look;
//  - not the use of freed memory, nor a race, but for what they do to the answers. Those are for
//  the
//    sanitizers (scripts/runtime-check) and for exploration.
// And the first use of the runtime in a process is the first program's alone.

#include <dlfcn.h>

#include <thread>

#include <weft/scenario.h>

#include "scenarios/mixed/operations.h"
#include "scenarios/mixed/world.h"

namespace weft::mixed {
namespace {

/// Never closed: a copy's global context lives as long as the process.
Copy hidden_copy() {
  void* const library = dlopen(WEFT_MIXED_COPY, RTLD_NOW | RTLD_LOCAL);
  always(library != nullptr, "the library with the other copy can be opened");
  Copy copy;
  reinterpret_cast<void (*)(Copy*)>(dlsym(library, "weft_mixed_copy"))(&copy);
  return copy;
}

WEFT_SCENARIO(native_program, {.name = "mixed/native",
                               .summary = "a random program of all that the runtime offers",
                               .expect = must_pass(),
                               .budget = 1000}) {
  static const Copy copies[] = {WEFT_RT::runtime(), hidden_copy()};
  const std::uint64_t number = choose(std::uint64_t{1} << 32U);
  std::thread([number] { run_program(number, copies); }).join();
}

}  // namespace
}  // namespace weft::mixed
