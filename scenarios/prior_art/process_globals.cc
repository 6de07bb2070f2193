// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A thread changes the process's allocator, two globals, while another allocates and frees by what
// it read of them. All is atomic: no race detector says a word.

#include <thread>

#include <weft/scenario.h>

#include "scenarios/prior_art/process_globals.h"

namespace weft::prior_art {
namespace {

template <class Globals>
void allocate_beside_a_change() {
  Globals globals(kMarked<1>);
  std::thread worker([&globals] {
    const Allocator allocator = globals.get();
    allocator.deallocate(allocator.allocate(16));
  });
  globals.set(kMarked<2>);
  worker.join();
}

WEFT_SCENARIO(process_globals_buggy, {.name = "prior_art/process_globals.buggy",
                                      .summary = "the two halves of an allocator are two globals",
                                      .expect = must_find("always"),
                                      .budget = 500}) {
  allocate_beside_a_change<ProcessGlobals>();
}

WEFT_SCENARIO(process_globals_fixed, {.name = "prior_art/process_globals.fixed",
                                      .summary = "one global leads to both halves",
                                      .expect = must_pass(),
                                      .budget = 500}) {
  allocate_beside_a_change<OneGlobal>();
}

}  // namespace
}  // namespace weft::prior_art
