// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The order that the subject has established among its tasks' operations: the
// happens-before relation of [intro.races] in the C++ standard.
//
// Every edge starts with a release by one task on some object (an unlock, a
// store-release, the end of a task) and ends with an acquire by another (a
// lock, a load-acquire, a join). Objects are told apart by address.
//
// Atomics follow [atomics.order] and [atomics.fences] of C++20: a release
// sequence is its head and the read-modify-writes that follow, so that any
// plain store, even by the same task, ends it.
//
// Thread-safety: as the execution's; the running task only.
#pragma once

#include <cstdint>

#include "harness/base/arena.h"
#include "harness/base/flat_map.h"
#include "harness/base/ids.h"
#include "harness/base/mapped_array.h"
#include "harness/model/vector_clock.h"

namespace weft::model {

/// C11's numbers, as compilers pass them.
enum class MemoryOrder : std::uint8_t {
  kRelaxed,
  kConsume,
  kAcquire,
  kRelease,
  kAcqRel,
  kSeqCst,
};

// Consume is acquire, as every compiler has it.
[[nodiscard]] constexpr bool acquires(MemoryOrder order) noexcept {
  return order != MemoryOrder::kRelaxed && order != MemoryOrder::kRelease;
}
[[nodiscard]] constexpr bool releases(MemoryOrder order) noexcept {
  return order >= MemoryOrder::kRelease;
}

/// What was released on an object, and who has nothing new to learn from it: a task that comes
/// back to its own lock or counter, as most do, has no clocks to join.
struct Released {
  VectorClock clock;
  TaskIndex absorbed_by = kNoTaskIndex;  // that task's `known` has all of the clock
  std::uint64_t has_version = 0;         // the clock has all of absorbed_by's `known` of it; 0: no
  [[nodiscard]] bool is_known_by(TaskIndex task) const noexcept { return absorbed_by == task; }
};

class HappensBefore {
 public:
  HappensBefore(std::size_t max_tasks, Arena& arena) noexcept : arena_(arena), tasks_(max_tasks) {}

  /// For a new execution; the arena has been reset.
  void clear(std::size_t tasks_of_the_last) noexcept {
    for (std::size_t i = 0; i < tasks_of_the_last; ++i) tasks_[i].forget();
    if (!objects_.empty()) objects_.clear();
  }

  /// `child` starts with all that `parent` knows and did up to its operation `now`.
  void spawned(TaskIndex child, TaskIndex parent, std::uint64_t now) noexcept {
    TaskClocks& clocks = tasks_[child];
    clocks.known.assign(tasks_[parent].known, arena_);
    clocks.known.raise(parent, now, arena_);
    ++clocks.changes;
  }

  /// `task` has seen the end of `ended`, whose last operation was `last`.
  void joined(TaskIndex task, TaskIndex ended, std::uint64_t last) noexcept {
    TaskClocks& clocks = tasks_[task];
    clocks.known.join(tasks_[ended].known, arena_);
    clocks.known.raise(ended, last, arena_);
    ++clocks.changes;
  }

  // --- Locks, flags, queues: any object by which tasks hand over what they know.

  void acquire(TaskIndex task, std::uintptr_t object) noexcept {
    if (Released* released = objects_.find(object)) absorb(tasks_[task], task, *released);
  }

  /// All that `task` did up to its operation `now` is handed over.
  void release(TaskIndex task, std::uint64_t now, std::uintptr_t object) noexcept {
    add_known(tasks_[task], task, now, objects_[object]);
  }

  /// The object is gone; a new one may take its address.
  void forget(std::uintptr_t object) noexcept { objects_.erase(object); }

  // --- Atomics. `now` is the index of the atomic operation itself.

  void load(TaskIndex task, std::uintptr_t address, MemoryOrder order) noexcept {
    if (Released* released = objects_.find(address)) load(tasks_[task], task, *released, order);
  }

  /// A shortcut for a load: true where `task` has nothing to learn from it.
  [[nodiscard, gnu::always_inline]] bool knows(TaskIndex task, std::uintptr_t address,
                                               MemoryOrder order) noexcept {
    const Released* const released = objects_.find(address);
    return released == nullptr || (acquires(order) && released->is_known_by(task));
  }

  /// A shortcut for a release, a store or a read-modify-write by the task that made the latest one
  /// of the object and has learnt nothing since: true where that is so, and nothing is left to do.
  [[nodiscard, gnu::always_inline]] bool renews(TaskIndex task, std::uint64_t now,
                                                std::uintptr_t address,
                                                MemoryOrder order) noexcept {
    Released* const released = objects_.find(address);
    if (released == nullptr || !releases(order) ||
        !is_up_to_date(*released, tasks_.data()[task], task))
      return false;
    released->clock.renew(task, now);
    return true;
  }

  void store(TaskIndex task, std::uint64_t now, std::uintptr_t address,
             MemoryOrder order) noexcept {
    TaskClocks& self = tasks_[task];
    if (!releases(order) && self.fenced.empty()) {
      // Ends the release sequence, if there was one.
      if (Released* released = objects_.find(address)) *released = {};
      return;
    }
    Released& released = objects_[address];
    if (!releases(order) || !released.is_known_by(task)) {
      released.clock.clear();
      released.absorbed_by = task;
      released.has_version = 0;
    }
    hand_over(self, task, now, order, released);
  }

  void read_modify_write(TaskIndex task, std::uint64_t now, std::uintptr_t address,
                         MemoryOrder order) noexcept {
    TaskClocks& self = tasks_[task];
    Released* released = objects_.find(address);
    if (released != nullptr) load(self, task, *released, order);
    if (!releases(order) && self.fenced.empty()) return;  // goes on with the release sequence
    hand_over(self, task, now, order, released != nullptr ? *released : objects_[address]);
  }

  void fence(TaskIndex task, std::uint64_t now, MemoryOrder order) noexcept {
    TaskClocks& self = tasks_[task];
    if (acquires(order)) self.known.join(self.seen_relaxed, arena_);
    if (!releases(order)) return;
    self.fenced.assign(self.known, arena_);
    self.fenced.raise(task, now, arena_);
  }

  /// Whether operation `at` of `earlier` comes before whatever `later` does now.
  [[nodiscard]] bool precedes(TaskIndex earlier, std::uint64_t at, TaskIndex later) const noexcept {
    return earlier == later || at <= tasks_.data()[later].known[earlier];
  }

 private:
  struct TaskClocks {
    VectorClock known;         // happens before the task's next operation
    VectorClock seen_relaxed;  // released by stores that relaxed loads read: an acquire fence's
    VectorClock fenced;        // known at the latest release fence: its later stores hand this over
    std::uint64_t changes = 0;  // of `known`
    [[nodiscard]] std::uint64_t version() const noexcept { return changes + 1; }

    void forget() noexcept {
      known.forget();
      seen_relaxed.forget();
      fenced.forget();
      ++changes;
    }
  };

  void absorb(TaskClocks& self, TaskIndex task, Released& released) noexcept {
    if (released.is_known_by(task)) return;
    self.known.join(released.clock, arena_);
    ++self.changes;
    released.absorbed_by = task;
    released.has_version = 0;
  }

  void load(TaskClocks& self, TaskIndex task, Released& released, MemoryOrder order) noexcept {
    if (acquires(order)) return absorb(self, task, released);
    if (!released.clock.empty()) self.seen_relaxed.join(released.clock, arena_);
  }

  /// Whether `released` has all that `task` knows, but perhaps not all that it did, and no more.
  [[nodiscard]] static bool is_up_to_date(const Released& released, const TaskClocks& self,
                                          TaskIndex task) noexcept {
    return released.is_known_by(task) && released.has_version == self.version();
  }

  /// All that `task` knows and did up to `now` is released, beside what was before.
  void add_known(TaskClocks& self, TaskIndex task, std::uint64_t now, Released& released) noexcept {
    if (!is_up_to_date(released, self, task)) {
      if (released.clock.empty()) released.absorbed_by = task;
      if (released.is_known_by(task)) {
        released.clock.assign(self.known, arena_);
        released.has_version = self.version();
      } else {
        released.clock.join(self.known, arena_);
        released.absorbed_by = kNoTaskIndex;
        released.has_version = 0;
      }
    }
    released.clock.raise(task, now, arena_);
  }

  void hand_over(TaskClocks& self, TaskIndex task, std::uint64_t now, MemoryOrder order,
                 Released& released) noexcept {
    if (releases(order)) return add_known(self, task, now, released);
    released.clock.join(self.fenced, arena_);
    released.has_version = 0;
  }

  Arena& arena_;
  MappedArray<TaskClocks> tasks_;
  FlatMap<Released> objects_{256};
};

}  // namespace weft::model
