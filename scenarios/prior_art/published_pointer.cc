// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A reader uses the published value while a writer replaces it: kept for ever, freed at once, and
// counted.

#include <thread>

#include <weft/scenario.h>

#include "scenarios/kinds.h"
#include "scenarios/prior_art/published_pointer.h"

namespace weft::prior_art {
namespace {

template <class Cell>
void read_beside_a_change() {
  Cell cell(kMarked<1>);
  std::thread reader([&cell] {
    cell.read([](const Allocator& allocator) { allocator.deallocate(allocator.allocate(16)); });
  });
  cell.set(kMarked<2>);
  reader.join();
}

WEFT_SCENARIO(leaky, {.name = "prior_art/published_pointer_leaky.buggy",
                      .summary = "what a pointer pointed to before is never freed",
                      .expect = must_find("leak"),
                      .budget = 100}) {
  read_beside_a_change<Leaky>();
}

WEFT_SCENARIO(eager, {.name = "prior_art/published_pointer_eager.buggy",
                      .summary = "what a pointer pointed to before is freed under a reader",
                      .expect = must_find(kUseAfterFree, "data_race"),
                      .budget = 500}) {
  read_beside_a_change<Eager>();
}

WEFT_SCENARIO(shared, {.name = "prior_art/published_pointer.fixed",
                       .summary = "std::atomic<std::shared_ptr> frees with the last reader",
                       .expect = must_pass(),
                       .budget = 500,
                       .suppressions = WEFT_REAL_SUPPRESSIONS}) {
  read_beside_a_change<Shared>();
}

}  // namespace
}  // namespace weft::prior_art
