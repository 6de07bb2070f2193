// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A random program over the runtime: what each of its strands does, as a tree. Pure data, made from
// a number, so that the schedule of an execution and its program are replayed together.
#pragma once

#include <array>
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

/// What threads that nobody bound follow: the runtime's BindingPolicy, one for each.
enum class Policy : std::uint8_t { kLate, kEarly, kExplicitOnly };

inline constexpr unsigned kMostOperations = 60;
inline constexpr unsigned kMostStrands = 8;
inline constexpr unsigned kMostCopies = 2;

// The policy is a property of a whole program, and no operation. The runtime lets it change at any
// time, but for threads that are not bound yet: from then on it would depend on the schedule who is
// bound how, also for the threads of a pool, which keep their binding from one piece of work to the
// next. Of one policy it is known who must be refused a context and who must keep what it found.
// What a change of policy does to bound threads is in lib/context/binding_test.cc.
struct Program {
  std::vector<Node> main;
  unsigned copies = 1;
  unsigned strands = 1;                        // the main one included
  unsigned pool_threads = 1;                   // of each copy, if anything is submitted
  bool cancel_pools = false;                   // at the end, instead of finishing what is queued
  std::array<Policy, kMostCopies> policies{};  // of each copy
  std::array<bool, kMostCopies> gives_main_one{};  // the main strand is given a context at once
};

/// The program of that number.
[[nodiscard]] Program generate(std::uint64_t number, std::span<const Operation> table,
                               unsigned most_copies);

}  // namespace weft::mixed
