// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One sequence of operations: a thread, or a piece of work that a pool's thread runs. It knows what
// the runtime must answer where that depends on this strand alone, and writes down what it answered
// where that depends on others.
//
// Thread-safety: a strand is used by whoever runs it; after that was joined, by the main strand.
#pragma once

#include <array>
#include <cstdint>
#include <future>
#include <thread>
#include <vector>

#include "scenarios/mixed/context_model.h"
#include "scenarios/mixed/linearizability.h"
#include "scenarios/mixed/program.h"

namespace weft::mixed {

class World;

/// What an operation throws, and nothing else.
struct ProgramException {};

inline constexpr unsigned kKeys = 3;  // of the stash; one of each rule

/// Number of a stashed object; 0: none.
using StashedId = std::uint32_t;
using StashModel = std::array<StashedId, kKeys>;

/// A context that threads follow, shared or not: a copy's global one, an override, a snapshot.
using ContextId = std::uint32_t;
/// Of a strand that has not read yet and keeps what it will find first: Policy::kEarly.
inline constexpr ContextId kNotRead = ~ContextId{0};
/// Of a strand that was never given a context: Policy::kExplicitOnly.
inline constexpr ContextId kNoContext = kNotRead - 1;

/// What a strand has of one copy of the runtime.
struct StrandOfCopy {
  ContextId follows = 0;
  unsigned overrides = 0;              // in force, but for those by a capture of no context
  void* innermost_override = nullptr;  // that the strand itself began, in the copy's type
  StashModel stash{};
};

class Strand {
 public:
  Strand(World& world, unsigned number);
  Strand(const Strand&) = delete;
  Strand& operator=(const Strand&) = delete;

  /// Runs a block of operations; a ProgramException passes through.
  void run(const std::vector<Node>& block);
  /// All of a strand but the main one: ends what must end on it, and leaves its children to the
  /// world. A ProgramException ends here unless `rethrow`.
  void run_to_its_end(const std::vector<Node>& block, bool rethrow);

  [[nodiscard]] World& world() const { return world_; }
  StrandOfCopy& of(unsigned copy) { return copies_[copy]; }

  /// The instant at which a call begins or ends.
  [[nodiscard]] std::uint64_t now() const;
  void record(ContextId context, std::uint64_t invoked, const ContextCall& call);
  void record(ContextId context, const Timed<ContextCall>& timed) {
    recorded_.push_back({context, timed});
  }
  /// A context that came to be, and what it said; where that is not known yet, it is said later.
  [[nodiscard]] ContextId new_context(const Settings& initial = {});
  void say_initial(ContextId context, const Settings& initial);
  /// The global one of a copy, where it is not new: it has the defaults, in that generation.
  void begin_context(ContextId context, std::uint64_t generation) {
    begun_.push_back({context, {}, generation});
  }
  [[nodiscard]] StashedId new_stashed() { return number_ << 16U | ++stashed_; }

  /// Threads and pieces of work that the strand started and nobody has joined.
  std::vector<std::thread> threads;
  std::vector<std::future<void>> submitted;
  void join_one(std::uint32_t which);

  // What the initialiser of a key is to do, and did, when this strand runs it.
  bool initialiser_throws = false;
  unsigned initialised = 0;
  bool on_pool = false;   // or on a thread that work of a pool started, and may be waiting for
  bool may_bind = false;  // it runs on a thread of its own, whose binding ends with it

  struct Recorded {
    ContextId context;
    Timed<ContextCall> timed;
  };
  struct Begun {
    ContextId context;
    Settings initial;
    std::uint64_t generation;
  };
  [[nodiscard]] const std::vector<Recorded>& recorded() const { return recorded_; }
  [[nodiscard]] const std::vector<Begun>& begun() const { return begun_; }

 private:
  World& world_;
  unsigned number_;
  std::array<StrandOfCopy, kMostCopies> copies_{};
  std::uint32_t stashed_ = 0;
  std::vector<Recorded> recorded_;
  std::vector<Begun> begun_;
};

/// The result of a piece of work is there, or never will be because its pool was cancelled.
void await(std::future<void>& submitted);

/// The strand that the calling thread is running, for callbacks of the runtime.
extern thread_local Strand* t_strand;

/// What the calling thread keeps of each copy since a first read; kNotRead: it has not read. A
/// pool's thread has it from one piece of work to the next, wherever the work's own copy of the
/// runtime does not put another in its place.
extern thread_local std::array<ContextId, kMostCopies> t_keeps;

}  // namespace weft::mixed
