// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Threads set themselves up when they first look something up. The main thread switches the trees
// off; a worker, which has looked nothing up so far, must find them off.

#include <cassert>
#include <latch>
#include <thread>

#include <weft/scenario.h>

#include "scenarios/prior_art/import_time.h"

namespace weft::prior_art {
namespace {

template <class SwitchOff, class LookUp>
void work_after_switching_off(SwitchOff switch_off, LookUp look_up) {
  std::latch off(1);
  std::thread worker([&] {
    off.wait();
    assert(!look_up().enabled);
  });
  switch_off();
  off.count_down();
  worker.join();
}

WEFT_SCENARIO(lazy_set_up_buggy,
              {.name = "prior_art/lazy_set_up.buggy",
               .summary = "a thread that sets itself up does not know what another switched off",
               .expect = must_find("assertion"),
               .budget = 100}) {
  work_after_switching_off([] { lazy_trees().enabled = false; }, &lazy_trees);
}

WEFT_SCENARIO(lazy_set_up_fixed, {.name = "prior_art/lazy_set_up.fixed",
                                  .summary = "a thread begins with what was set for all",
                                  .expect = must_pass(),
                                  .budget = 500}) {
  SharedDefaults defaults;
  work_after_switching_off([&] { defaults.set_enabled(false); },
                           [&]() -> const Trees& { return defaults.trees(); });
}

}  // namespace
}  // namespace weft::prior_art
