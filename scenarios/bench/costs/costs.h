// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The bodies whose schedule points are priced; compiled as code under test.
#pragma once

#include <cstdint>

namespace weft::bench {

// Each runs two threads that do `kCostRounds` of the operation each, on objects of their own. Fewer
// than the points in a row after which the default schedule leaves a task, so that to go on is no
// departure from it; many against what the threads cost.
inline constexpr std::uint64_t kCostRounds = 900;

void plain_reads();
void plain_writes();
void atomic_loads();
void atomic_adds();
void lock_pairs();  // a lock and an unlock are two points
void yields();

// So many threads do `kManyRounds` atomic additions each.
inline constexpr std::uint64_t kManyRounds = 1000;
void add_in_2_tasks();
void add_in_64_tasks();

}  // namespace weft::bench
