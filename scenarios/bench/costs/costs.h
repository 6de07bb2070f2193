// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The bodies whose schedule points are priced; compiled as code under test.
#pragma once

#include <cstdint>

namespace weft::bench {

// Each runs two threads that do `kCostRounds` of the operation each, on objects of their own.
// Fewer than the points after which tasks that change nothing count as a livelock.
inline constexpr std::uint64_t kCostRounds = 50'000;

void plain_reads();
void plain_writes();
void atomic_loads();
void atomic_adds();
void lock_pairs();  // a lock and an unlock are two points
void yields();

}  // namespace weft::bench
