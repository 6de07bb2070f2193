// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One execution of a program: its strands, the copies of the runtime that it runs on, and the
// verdict on what they answered.
//
// Nothing here orders one strand after another that the runtime does not: counters are relaxed, and
// what a strand writes down is its own until it was joined. So a race in the runtime stays one.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "scenarios/mixed/program.h"
#include "scenarios/mixed/strand.h"

namespace weft::mixed {

/// Runs the program of that number on copies of the runtime and checks everything; what does not
/// hold is a finding, or natively the end of the process.
void run_program(std::uint64_t number, std::span<const Copy> copies);

class World {
 public:
  World(const Program& program, std::span<const Copy> copies);

  void run();

  [[nodiscard]] const Copy& copy(unsigned copy) const { return copies_[copy]; }
  [[nodiscard]] CopyState& state(unsigned copy) const { return *states_[copy]; }
  /// What a strand follows of that copy that nobody has given a context.
  [[nodiscard]] ContextId unbound(unsigned copy) const;
  /// Another `n` threads may read, of whatever copy: what each holds, and what it is replacing.
  void allow_threads(unsigned n);
  /// CopyState::adopt_thread(), of each copy.
  void adopt_thread(Strand& strand);
  /// A new strand, not running yet.
  [[nodiscard]] Strand& strand(unsigned number);
  /// What of its children the strand has not joined, to be joined by the main one.
  void leave_behind(Strand& strand);

  // relaxed, here and below: counts, by which nothing is published. One order of all ticks, which
  // agrees with the time that passes, is what atomicity alone gives.
  std::uint64_t tick() { return clock_.fetch_add(1, std::memory_order_relaxed); }
  void created_one() { created_.fetch_add(1, std::memory_order_relaxed); }
  void destroyed_one() { destroyed_.fetch_add(1, std::memory_order_relaxed); }

  /// Whether the pools are being ended, or have been.
  [[nodiscard]] bool ends_pools() const { return ends_pools_.load(std::memory_order_relaxed); }

  /// Between any two steps, where steps are taken one at a time; natively at any time.
  [[nodiscard]] bool holds() const;
  /// Natively, what an invariant is under exploration.
  void look_around() const;

 private:
  void join_all();
  void check_histories() const;

  const Program& program_;
  std::span<const Copy> copies_;
  std::array<std::unique_ptr<CopyState>, kMostCopies> states_;
  std::array<std::unique_ptr<Strand>, kMostStrands> strands_;

  std::mutex mutex_;
  std::vector<std::thread> threads_;
  std::vector<std::future<void>> submitted_;

  std::atomic<bool> ends_pools_{false};
  std::atomic<std::uint64_t> clock_{1};
  std::atomic<std::uint64_t> created_{0};
  std::atomic<std::uint64_t> destroyed_{0};
};

/// An object that is stashed. Whatever else happens to it, it is destroyed once.
class Stashed {
 public:
  Stashed(World& world, StashedId id) : world_(world), id_(id) { world.created_one(); }
  ~Stashed() { world_.destroyed_one(); }
  Stashed(const Stashed&) = delete;
  Stashed& operator=(const Stashed&) = delete;
  [[nodiscard]] StashedId id() const { return id_; }

 private:
  World& world_;
  StashedId id_;
};

}  // namespace weft::mixed
