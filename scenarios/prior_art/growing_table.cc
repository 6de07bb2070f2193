// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A library that is loaded late registers an operator while another thread computes. Under the
// reader the table grows, or an operator appears between two look-ups of one computation.

#include <cassert>
#include <thread>

#include <weft/scenario.h>

#include "scenarios/kinds.h"
#include "scenarios/prior_art/growing_table.h"

namespace weft::prior_art {
namespace {

int slow(int x) { return x + 1; }
int fast(int x) { return x + 1; }

constexpr std::size_t kSlow = 0;
constexpr std::size_t kFast = 1;

template <bool kFrees>
void compute_beside_a_registration() {
  GrowingTable<kFrees> table(1);
  table.add(kSlow, &slow);
  std::thread late([&table] { table.add(kFast, &fast); });
  assert(table.find(kSlow)(1) == 2);
  late.join();
  assert(table.find(kFast)(1) == 2);
}

WEFT_SCENARIO(resized_buggy, {.name = "prior_art/growing_table_resized.buggy",
                              .summary = "a table is resized under a reader, and the old one freed",
                              .expect = must_find(kUseAfterFree, "data_race"),
                              .budget = 500}) {
  compute_beside_a_registration<true>();
}

WEFT_SCENARIO(resized_fixed, {.name = "prior_art/growing_table_resized.fixed",
                              .summary = "a table that was outgrown is kept",
                              .expect = must_pass(),
                              .budget = 500}) {
  compute_beside_a_registration<false>();
}

/// Work that plans with what it takes of the table, and then follows its plan.
template <class Take>
void plan_beside_a_registration(Take take) {
  GrowingTable<false> table(2);
  table.add(kSlow, &slow);
  std::thread late([&table] { table.add(kFast, &fast); });
  const auto& taken = take(table);
  const bool planned_fast = taken.find(kFast) != nullptr;
  const bool found_fast = taken.find(kFast) != nullptr;
  assert(planned_fast == found_fast);
  late.join();
}

WEFT_SCENARIO(seen_early_buggy, {.name = "prior_art/growing_table_seen_early.buggy",
                                 .summary = "an operator appears in the middle of a computation",
                                 .expect = must_find("assertion"),
                                 .budget = 500}) {
  plan_beside_a_registration([](const auto& table) -> const auto& { return table; });
}

WEFT_SCENARIO(seen_early_fixed, {.name = "prior_art/growing_table_seen_early.fixed",
                                 .summary = "a computation takes a copy of the table along",
                                 .expect = must_pass(),
                                 .budget = 500}) {
  plan_beside_a_registration([](const auto& table) { return table.copy(); });
}

}  // namespace
}  // namespace weft::prior_art
