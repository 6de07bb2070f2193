// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Identity that does not depend on the schedule.
//
// A task is named by its spawn path and an object by who made it, never by an
// address or by the order in which things happened to be seen. Deduplication,
// replay tokens, racy locations and shrinking all compare these ids across
// executions, processes and machines.
#pragma once

#include <compare>
#include <cstdint>

namespace weft {

/// Folds `value` into the running hash `seed`; not commutative, no fixed point at zero.
/// The finaliser's constants are SplitMix64's (Steele, Lea, Flood: OOPSLA 2014).
[[nodiscard]] constexpr std::uint64_t fold(std::uint64_t seed, std::uint64_t value) noexcept {
  std::uint64_t z = seed ^ (value + 0x9e3779b97f4a7c15u + (seed << 6) + (seed >> 2));
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// The same for a chain that grows at every step: one multiplication, at whose cost `value` shows
/// in the low bits only where it differs below bit 48.
[[nodiscard]] constexpr std::uint64_t fold_step(std::uint64_t seed, std::uint64_t value) noexcept {
  const std::uint64_t z = (seed ^ value) * 0x9e3779b97f4a7c15u;
  return z ^ (z >> 32);
}

/// A task's spawn path ("0.1.2": second child's third child), folded into one word.
/// Text and ordinals are kept in the task table; 64 bits make a collision within
/// one execution's tasks (at most 1,024) a matter of 2^-45.
struct TaskId {
  std::uint64_t value = 0;
  auto operator<=>(const TaskId&) const = default;
  [[nodiscard]] constexpr TaskId child(std::uint32_t ordinal) const noexcept {
    return {fold(value, ordinal + 1)};
  }
};
inline constexpr TaskId kNoTask{0};
inline constexpr TaskId kRootTask{0x7765667477726b31u};  // any non-zero constant

/// Position of a task in this execution's table, in creation order: an array
/// index for speed, never an identity.
using TaskIndex = std::uint16_t;
inline constexpr TaskIndex kNoTaskIndex = 0xffff;

/// Number of schedule points decided so far in an execution.
using StepIndex = std::uint64_t;

enum class ObjectSpace : std::uint8_t {
  kNone,     // the operation has no object
  kModule,   // owner: hash of the module's basename; offset within it
  kHeap,     // owner: TaskId of the allocating task; ordinal of the allocation; offset within it
  kStack,    // owner: TaskId whose stack it is; offset down from the stack's top
  kTask,     // owner: TaskId of the task itself (join, detach)
  kForeign,  // memory that we did not allocate (mmap, libc's own): the address as it is
};

/// Names an object of the subject (a lock, a variable) across executions.
struct ObjectId {
  std::uint64_t owner = 0;
  std::uint64_t offset = 0;
  std::uint32_t ordinal = 0;
  ObjectSpace space = ObjectSpace::kNone;

  auto operator<=>(const ObjectId&) const = default;
  [[nodiscard]] constexpr std::uint64_t hash() const noexcept {
    return fold(fold(fold(owner, offset), ordinal), static_cast<std::uint64_t>(space));
  }
};

/// A code address: module by index in the execution's module table, and offset,
/// so that it means the same under address randomisation.
struct Site {
  std::uint32_t module = 0xffffffff;
  std::uint32_t offset = 0;
  auto operator<=>(const Site&) const = default;
};

}  // namespace weft
