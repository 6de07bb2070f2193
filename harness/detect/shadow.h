// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Who touched which memory last: a cell of history for every eight bytes.
//
// A cell speaks of one range of bytes within its granule, as programs nearly
// always access a variable in one way. Where they do not (two variables side by side, a
// byte of a word) the cell is split into a history for each piece of a size that
// divides all accesses so far.
//
// An access is named by (task, operation index), which is also the component by
// which clocks are compared (model/vector_clock.h), so that the report's replay
// can stop at exactly that access and take its stack.
//
// Cells are found through a two-level table over 47 bits of address. Nothing is
// cleared between executions: a cell of another generation is an empty one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "harness/base/arena.h"
#include "harness/base/ids.h"
#include "harness/base/mapped_array.h"
#include "harness/trace/finding.h"

namespace weft::detect {

using trace::AccessKind;

/// One access by a task. Zero bytes: none.
struct Access {
  std::uintptr_t pc = 0;
  std::uint64_t operation : 44 = 0;  // the task's operation index
  std::uint64_t task : 12 = 0;       // its index, plus 1; 0 for no access
  std::uint64_t kind : 4 = 0;
  std::uint64_t size : 4 = 0;  // bytes, saturating

  Access() noexcept = default;
  Access(TaskIndex by, std::uint64_t at, AccessKind what, std::size_t bytes,
         std::uintptr_t from) noexcept
      : pc(from),
        operation(at),
        task(std::uint64_t{by} + 1),
        kind(static_cast<std::uint64_t>(what)),
        size(bytes < 15 ? bytes : 15) {}

  [[nodiscard]] bool none() const noexcept { return task == 0; }
  [[nodiscard]] bool is_none_or_by(std::uint64_t of) const noexcept {
    return task == 0 || task == of;
  }
  [[nodiscard]] bool is_like(const Access& other) const noexcept {
    return task == other.task && kind == other.kind;
  }
  [[nodiscard]] TaskIndex by() const noexcept { return static_cast<TaskIndex>(task - 1); }
  [[nodiscard]] AccessKind what() const noexcept { return static_cast<AccessKind>(kind); }
};
static_assert(sizeof(Access) == 16);

/// Accesses of which none precedes another: concurrent reads, and atomic accesses of each kind.
struct AccessList {
  Access access;
  AccessList* next = nullptr;
};

/// What happened to one range of bytes.
struct History {
  Access write;                      // the latest plain write, allocation included
  Access read;                       // the latest plain read, if those before it precede it
  AccessList* more_reads = nullptr;  // reads by other tasks that `read` does not follow
  AccessList* atomics = nullptr;     // the latest atomic read and write of each task

  void add_atomic(Access access, Arena& arena) noexcept {
    atomics = arena.make<AccessList>(access, atomics);
  }
};

struct alignas(64) Cell {
  static constexpr std::uint8_t kGranule = 8;

  History history;
  std::uint32_t generation = 0;
  std::uint8_t begin = 0;  // the bytes of the granule that the history is about
  std::uint8_t end = 0;
  bool synchronises = false;  // some byte of it is an atomic or a lock, known to HappensBefore
  bool watched = false;       // known to race: its accesses are schedule points
  // Split: a history for each `begin` bytes of the granule, and `history` is unused.
  [[nodiscard]] bool split() const noexcept { return end > kGranule; }
  [[nodiscard]] std::size_t piece_size() const noexcept { return begin; }
  [[nodiscard]] History* pieces() const noexcept {
    return reinterpret_cast<History*>(history.more_reads);
  }
  void set_split(History* pieces, std::uint8_t piece_size) noexcept {
    history.more_reads = reinterpret_cast<AccessList*>(pieces);
    begin = piece_size;
    end = kGranule + 1;
  }
  /// Whether `history` is of that generation and about just the bytes [first, first + size), and
  /// nothing is special about them but, where so asked, that they synchronise: one comparison, for
  /// each access of the subject makes it.
  [[nodiscard]] bool is_ordinary(std::uint32_t in, std::size_t first, std::size_t size,
                                 bool and_synchronises = false) const noexcept {
    static_assert(offsetof(Cell, synchronises) - offsetof(Cell, generation) == 6);
    static_assert(offsetof(Cell, watched) - offsetof(Cell, generation) == 7);
    std::uint64_t head;
    std::memcpy(&head, &generation, sizeof head);
    // The size is a constant as a rule; a longer one would reach into the bits of the flags.
    return size <= kGranule && head == (in | first << 32 | (first + size) << 40 |
                                        (and_synchronises ? std::uint64_t{1} << 48 : 0));
  }
  /// Whether `history` is about just the bytes [first, first + size).
  [[nodiscard]] bool is_about(std::size_t first, std::size_t size) const noexcept {
    return begin == first && end == first + size;
  }
  /// The history of just the bytes [first, first + size), or null.
  [[nodiscard]] History* history_of(std::size_t first, std::size_t size) noexcept {
    if (is_about(first, size)) return &history;
    if (split() && size == piece_size() && first % size == 0) return &pieces()[first / size];
    return nullptr;
  }
  /// A new generation, in which [first, first + size) of the granule is accessed first.
  void begin_with(std::uint32_t in, std::size_t first, std::size_t size) noexcept {
    *this = Cell{};
    generation = in;
    begin = static_cast<std::uint8_t>(first);
    end = static_cast<std::uint8_t>(first + size);
  }
};
static_assert(sizeof(Cell) == 64, "a cell is one cache line");

class Shadow {
 public:
  static constexpr std::uintptr_t kGranule = Cell::kGranule;

  Shadow() noexcept : leaves_(std::size_t{1} << (kAddressBits - kLeafBits)) {}

  /// The cell of the granule that holds `address`; of any generation.
  [[nodiscard]] Cell& cell(std::uintptr_t address) noexcept {
    Cell* const leaf = leaves_.data()[(address & kAddressMask) >> kLeafBits];
    if (leaf == nullptr) [[unlikely]]
      return make_leaf(address)[index_in_leaf(address)];
    return leaf[index_in_leaf(address)];
  }
  /// The same, or null where nothing was ever noted near `address`.
  [[nodiscard]] Cell* find(std::uintptr_t address) noexcept {
    Cell* const leaf = leaves_.data()[(address & kAddressMask) >> kLeafBits];
    return leaf == nullptr ? nullptr : &leaf[index_in_leaf(address)];
  }

 private:
  static constexpr unsigned kAddressBits = 47;
  static constexpr unsigned kLeafBits = 24;  // 16 MiB of memory to a leaf
  static constexpr std::uintptr_t kAddressMask = (std::uintptr_t{1} << kAddressBits) - 1;

  [[nodiscard]] static std::size_t index_in_leaf(std::uintptr_t address) noexcept {
    return (address & ((std::uintptr_t{1} << kLeafBits) - 1)) / kGranule;
  }
  Cell* make_leaf(std::uintptr_t address) noexcept;

  MappedArray<Cell*> leaves_;
};

}  // namespace weft::detect
