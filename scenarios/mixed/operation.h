// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a program may do, as one table: a row is all there is to an operation.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace weft::mixed {

struct Node;
struct Program;
class Strand;
class World;

/// What of its node an operation runs inside.
enum class Shape : std::uint8_t {
  kLeaf,      // nothing
  kScope,     // `first`
  kTwoParts,  // `first`, and then `second`
  kStrand,    // `first`, on a strand of its own
};

struct Operation {
  const char* name;
  unsigned weight;  // how often, against the others of the table
  Shape shape;
  void (*run)(Strand&, const Node&);
};

/// What one copy of the runtime keeps for an execution, in types of its own.
class CopyState {
 public:
  CopyState() = default;
  virtual ~CopyState() = default;
  CopyState(const CopyState&) = delete;
  CopyState& operator=(const CopyState&) = delete;

  /// Before anything else, on the main strand. Natively the last program's context is still there,
  /// and is replaced.
  virtual void begin(Strand& main) = 0;
  /// No strand runs any more but the main one: ends the pool.
  virtual void end_pool(bool cancel) = 0;
  /// Afterwards: what must hold when everything is over. Called on the main strand.
  virtual void check_end(Strand& main) = 0;
  /// The strand begins on a thread that may have run others: holds its stash to what the strand
  /// was given and takes over what else is there, of the context too.
  virtual void adopt_thread(Strand& strand) = 0;
  /// Another `n` implementations may be alive.
  virtual void allow(int n) = 0;
  /// Between any two steps.
  [[nodiscard]] virtual bool holds() const = 0;
};

/// A copy of the runtime, as programs use it. Every copy's table has the same rows.
struct Copy {
  std::span<const Operation> operations;
  std::unique_ptr<CopyState> (*make_state)(World&, unsigned copy, const Program&);
};

}  // namespace weft::mixed
