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

class HappensBefore {
 public:
  HappensBefore(std::size_t max_tasks, Arena& arena) noexcept : arena_(arena), tasks_(max_tasks) {}

  /// For a new execution; the arena has been reset.
  void clear(std::size_t tasks_of_the_last) noexcept {
    for (std::size_t i = 0; i < tasks_of_the_last; ++i) tasks_[i] = {};
    if (!objects_.empty()) objects_.clear();
  }

  /// `child` starts with all that `parent` knows and did up to its operation `now`.
  void spawned(TaskIndex child, TaskIndex parent, std::uint64_t now) noexcept {
    tasks_[child].known.assign(tasks_[parent].known, arena_);
    tasks_[child].known.raise(parent, now, arena_);
  }

  /// `task` has seen the end of `ended`, whose last operation was `last`.
  void joined(TaskIndex task, TaskIndex ended, std::uint64_t last) noexcept {
    tasks_[task].known.join(tasks_[ended].known, arena_);
    tasks_[task].known.raise(ended, last, arena_);
  }

  // --- Locks, flags, queues: any object by which tasks hand over what they know.

  void acquire(TaskIndex task, std::uintptr_t object) noexcept {
    if (const VectorClock* released = objects_.find(object)) {
      tasks_[task].known.join(*released, arena_);
    }
  }

  /// All that `task` did up to its operation `now` is handed over.
  void release(TaskIndex task, std::uint64_t now, std::uintptr_t object) noexcept {
    VectorClock& released = objects_[object];
    released.join(tasks_[task].known, arena_);
    released.raise(task, now, arena_);
  }

  /// The object is gone; a new one may take its address.
  void forget(std::uintptr_t object) noexcept { objects_.erase(object); }

  // --- Atomics. `now` is the index of the atomic operation itself.

  void load(TaskIndex task, std::uintptr_t address, MemoryOrder order) noexcept {
    const VectorClock* released = objects_.find(address);
    if (released == nullptr) return;
    TaskClocks& self = tasks_[task];
    (acquires(order) ? self.known : self.seen_relaxed).join(*released, arena_);
  }

  void store(TaskIndex task, std::uint64_t now, std::uintptr_t address,
             MemoryOrder order) noexcept {
    TaskClocks& self = tasks_[task];
    if (!releases(order) && self.fenced.empty()) {
      // Ends the release sequence, if there was one.
      if (VectorClock* released = objects_.find(address)) released->clear();
      return;
    }
    VectorClock& released = objects_[address];
    released.clear();
    hand_over(self, task, now, order, released);
  }

  void read_modify_write(TaskIndex task, std::uint64_t now, std::uintptr_t address,
                         MemoryOrder order) noexcept {
    TaskClocks& self = tasks_[task];
    VectorClock* released = objects_.find(address);
    if (released != nullptr)
      (acquires(order) ? self.known : self.seen_relaxed).join(*released, arena_);
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
  };

  void hand_over(TaskClocks& self, TaskIndex task, std::uint64_t now, MemoryOrder order,
                 VectorClock& released) noexcept {
    if (releases(order)) {
      released.join(self.known, arena_);
      released.raise(task, now, arena_);
    } else {
      released.join(self.fenced, arena_);
    }
  }

  Arena& arena_;
  MappedArray<TaskClocks> tasks_;
  FlatMap<VectorClock> objects_{256};
};

}  // namespace weft::model
