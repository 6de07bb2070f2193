// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A random program over the runtime: what each of its strands does, as a tree. Pure data, made from
// a number, so that the schedule of an execution and its program are replayed together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scenarios/mixed/operation.h"

namespace weft::mixed {

/// One operation of a program.
struct Node {
  std::uint8_t operation = 0;  // in the table
  std::uint8_t copy = 0;       // of the runtime
  std::uint8_t strand = 0;     // that a kStrand starts
  std::uint32_t argument = 0;  // means what the operation makes of it
  std::vector<Node> first;     // what is done inside; see Shape
  std::vector<Node> second;
};

struct Program {
  std::vector<Node> main;
  unsigned copies = 1;
  unsigned strands = 1;       // the main one included
  unsigned pool_threads = 1;  // of each copy, if anything is submitted
  bool cancel_pools = false;  // at the end, instead of finishing what is queued
};

inline constexpr unsigned kMostOperations = 60;
inline constexpr unsigned kMostStrands = 8;
inline constexpr unsigned kMostCopies = 2;

/// The program of that number.
[[nodiscard]] Program generate(std::uint64_t number, std::span<const Operation> table,
                               unsigned most_copies);

}  // namespace weft::mixed
