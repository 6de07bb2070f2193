// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Finds accesses of which one writes, not both atomic, that nothing orders: data
// races as [intro.races] defines them. Precise for the schedule at hand: no race
// between two accesses that happened is missed or made up.
//
// Source: the epochs of FastTrack (Flanagan and Freund, PLDI 2009), with a clock
// that names the access (shadow.h), and lists in place of read vectors.
//
// Thread-safety: the running task only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/base/arena.h"
#include "harness/detect/shadow.h"
#include "harness/model/happens_before.h"

namespace weft::detect {

/// What there is to know of memory that nobody has touched since it was allocated.
struct Origin {
  Access allocated;      // none: not of the subject's heap, or from before the execution
  Access freed;          // none: it lives
  bool watched = false;  // known to race
};

class OriginSource {
 public:
  virtual ~OriginSource() = default;
  [[nodiscard]] virtual Origin origin_of(std::uintptr_t address) const noexcept = 0;
};

/// Two accesses that must not both be.
struct Conflict {
  Access earlier;
  std::uintptr_t address = 0;  // the first byte found
};

class RaceDetector {
 public:
  RaceDetector(const model::HappensBefore& order, const OriginSource& origins,
               Arena& arena) noexcept
      : order_(order), origins_(origins), arena_(arena) {}

  /// For a new execution; the arena has been reset. `with_shortcut`: touch_own() and
  /// touch_own_atomic() may say yes.
  void clear(bool with_shortcut = true) noexcept {
    ++generation_;
    own_generation_ = with_shortcut ? generation_ : 0;
  }

  // Shortcuts. Each is true where `now` is an access of the kind that it is for and conflicts with
  // nothing; it is then noted, and there is nothing more to do.

  /// For a plain access of memory that only its task has touched in this execution, and that
  /// before.
  [[nodiscard, gnu::always_inline]] bool touch_own(std::uintptr_t address, std::size_t size,
                                                   Access now) noexcept {
    Cell* const cell = shadow_.find(address);
    if (cell == nullptr || !cell->is_ordinary(own_generation_, address % Shadow::kGranule, size))
      return false;
    History& history = cell->history;
    if (history.more_reads != nullptr) return false;
    if (!is_write(now.what())) {
      // Its own read before this one was in order with whoever wrote.
      if (history.read.task != now.task &&
          !(history.write.is_none_or_by(now.task) && history.read.is_none_or_by(now.task)))
        return false;
      history.read = now;
      return true;
    }
    if (!history.write.is_none_or_by(now.task) || !history.read.is_none_or_by(now.task))
      return false;
    history.write = now;
    return true;
  }

  /// For an atomic access by the task that made the latest atomic one of the same kind, of memory
  /// of which no other task has made plain accesses.
  [[nodiscard, gnu::always_inline]] bool touch_own_atomic(std::uintptr_t address, std::size_t size,
                                                          Access now) noexcept {
    Cell* const cell = shadow_.find(address);
    if (cell == nullptr ||
        !cell->is_ordinary(own_generation_, address % Shadow::kGranule, size, true))
      return false;
    const History& history = cell->history;
    AccessList* const latest = history.atomics;
    const bool written_by_others =
        !history.write.none() &&
        (history.write.task != now.task || history.write.what() == AccessKind::kFree);
    if (latest == nullptr || !latest->access.is_like(now) || history.more_reads != nullptr ||
        written_by_others || !history.read.is_none_or_by(now.task))
      return false;
    latest->access = now;
    return true;
  }

  /// For the first access of memory of which the OriginSource has nothing to say.
  [[nodiscard]] bool touch_first(std::uintptr_t address, std::size_t size, Access now) noexcept {
    const std::size_t begin = address % Shadow::kGranule;
    Cell& cell = shadow_.cell(address);
    if (cell.generation == generation_ || begin + size > Shadow::kGranule) return false;
    cell.begin_with(generation_, begin, size);
    if (is_atomic(now.what())) {
      cell.synchronises = true;
      cell.history.add_atomic(now, arena_);
    } else {
      (is_write(now.what()) ? cell.history.write : cell.history.read) = now;
    }
    return true;
  }

  /// For a plain access that all before it precede, none of them atomic, and of no other bytes.
  [[nodiscard]] bool touch_ordered(std::uintptr_t address, std::size_t size, Access now) noexcept {
    Cell& cell = shadow_.cell(address);
    if (cell.generation != generation_ || cell.watched) return false;
    History* const history = cell.history_of(address % Shadow::kGranule, size);
    if (history == nullptr || history->more_reads != nullptr || history->atomics != nullptr ||
        history->write.what() == AccessKind::kFree || unordered(history->write, now) ||
        unordered(history->read, now))
      return false;
    if (is_write(now.what())) {
      history->write = now;
      history->read = Access{};
    } else {
      history->read = now;
    }
    return true;
  }

  /// For an atomic access of bytes that have been accessed together always.
  [[nodiscard]] bool touch_atomic(std::uintptr_t address, std::size_t size, Access now) noexcept {
    Cell& cell = shadow_.cell(address);
    if (cell.generation != generation_) return false;
    History* const history = cell.history_of(address % Shadow::kGranule, size);
    if (history == nullptr || history->more_reads != nullptr ||
        history->write.what() == AccessKind::kFree || unordered(history->write, now) ||
        (is_write(now.what()) && unordered(history->read, now)))
      return false;
    cell.synchronises = true;
    AccessList* own = history->atomics;
    while (own != nullptr && !own->access.is_like(now)) own = own->next;
    if (own == nullptr) {
      history->add_atomic(now, arena_);
    } else {
      own->access = now;
    }
    return true;
  }

  /// Whether the memory at `address` is known to race.
  [[nodiscard]] bool watched(std::uintptr_t address) noexcept {
    return fresh_cell(address).watched;
  }

  /// Notes `now`, an access of any kind but kFree. True, and `conflict` filled in, where an
  /// earlier access (a free included) was not ordered before it.
  bool touch(std::uintptr_t address, std::size_t size, Access now, Conflict& conflict) noexcept;

  /// The block's accesses must all be ordered before its free; its history ends here.
  bool release(std::uintptr_t address, std::size_t size, Access now, Conflict& conflict,
               model::HappensBefore& order) noexcept;

  /// Notes that HappensBefore knows `address`.
  void synchronises(std::uintptr_t address) noexcept { fresh_cell(address).synchronises = true; }

 private:
  [[nodiscard]] Cell& fresh_cell(std::uintptr_t address) noexcept;
  [[nodiscard]] bool unordered(const Access& earlier, Access now) const noexcept {
    return !earlier.none() && !order_.precedes(earlier.by(), earlier.operation, now.by());
  }
  /// The first access in `history` that conflicts with `now`, or null.
  [[nodiscard]] const Access* conflict_in(const History& history, Access now) const noexcept;
  void note(History& history, Access now) noexcept;
  void note_read(History& history, Access now) noexcept;
  void note_atomic(History& history, Access now) noexcept;
  /// So that [from, to) of the granule is made of whole pieces.
  void split(Cell& cell, std::uintptr_t granule, std::uint8_t from, std::uint8_t to) noexcept;
  [[nodiscard]] AccessList* copy(const AccessList* list) noexcept;

  const model::HappensBefore& order_;
  const OriginSource& origins_;
  Arena& arena_;
  Shadow shadow_;
  std::uint32_t generation_ = 1;
  std::uint32_t own_generation_ = 1;  // touch_own()'s and touch_own_atomic()'s; 0: no cell is of it
};

}  // namespace weft::detect
