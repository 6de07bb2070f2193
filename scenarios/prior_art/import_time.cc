// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A module that sets itself up per thread is imported by whichever worker first has a use for it.
// That worker owns it: the first batch works, and the other worker's dies.

#include <mutex>
#include <thread>

#include <weft/scenario.h>

#include "scenarios/prior_art/import_time.h"

namespace weft::prior_art {
namespace {

void record_on_two_workers(bool import_sets_up, Trees& (*look_up)()) {
  std::once_flag imported;
  const auto work = [&] {
    if (import_sets_up) std::call_once(imported, &import_module);
    ++look_up().recordings;
  };
  std::thread first(work);
  std::thread second(work);
  first.join();
  second.join();
}

WEFT_SCENARIO(import_time_buggy,
              {.name = "prior_art/import_time.buggy",
               .summary = "the worker that imports a module is the only one that it works on",
               .expect = must_find("assertion"),
               .budget = 100}) {
  record_on_two_workers(true, &imported_trees);
}

WEFT_SCENARIO(import_time_fixed, {.name = "prior_art/import_time.fixed",
                                  .summary = "a look-up sets up what is missing",
                                  .expect = must_pass(),
                                  .budget = 500}) {
  record_on_two_workers(false, &lazy_trees);
}

}  // namespace
}  // namespace weft::prior_art
