// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the engine makes of the subject's memory accesses: data races and uses of
// freed blocks, each with both sides.
//
// The detector names the earlier access by (task, operation index) only. Its
// stack comes from a second replay, which is told which accesses to look out
// for (WorkerConfig::look_out): stacks are walked where they are wanted, not at
// every access.
//
// A race does not end an execution by itself. One that is known (reported
// before, or suppressed) is passed over: a departure from the default, so that
// it is in the choice log and a token's replay passes over it as well.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/detect/race_detector.h"
#include "harness/engine/process_image.h"
#include "harness/engine/task.h"
#include "harness/trace/finding.h"

namespace weft::engine {

class MemoryWatch final : private detect::OriginSource {
 public:
  explicit MemoryWatch(Execution& execution) noexcept;

  /// For a new execution; the arena has been reset.
  void clear() noexcept;

  [[nodiscard]] bool active() const noexcept { return active_; }

  /// True where `self`'s plain access is one that needs no more thought, which is by far the most
  /// frequent thing that tasks do: mostly of memory that is the task's own. Never where nothing, or
  /// something in particular, is looked for: see clear().
  [[nodiscard, gnu::always_inline]] bool passes(const Task& self, trace::AccessKind kind,
                                                std::uintptr_t address, std::size_t size,
                                                std::uintptr_t pc) noexcept {
    return self.accesses_ignored == 0 &&
           races_.touch_own(address, size,
                            detect::Access(self.index, self.operation_index, kind, size, pc));
  }

  /// The same for what `self` just did atomically, which then need not be told as accessed.
  [[nodiscard, gnu::always_inline]] bool passes_atomic(const Task& self, trace::AccessKind kind,
                                                       std::uintptr_t address, std::size_t size,
                                                       std::uintptr_t pc) noexcept {
    return self.accesses_ignored == 0 &&
           races_.touch_own_atomic(
               address, size, detect::Access(self.index, self.operation_index, kind, size, pc));
  }

  /// `self` is about to access memory, or just did so atomically. Does not return if that is a
  /// finding.
  void accessed(Task& self, trace::AccessKind kind, std::uintptr_t address, std::size_t size,
                std::uintptr_t pc) noexcept {
    if (!active_ || self.accesses_ignored != 0) return;
    const detect::Access now(self.index, self.operation_index, kind, size, pc);
    if (!looking_out_) [[likely]] {
      if (trace::is_atomic(kind) ? races_.touch_atomic(address, size, now)
                                 : races_.touch_ordered(address, size, now)) [[likely]]
        return;
      if (has_no_origin(address) && races_.touch_first(address, size, now)) return;
    }
    examine(self, now, address, size);
  }

  /// Whether a plain access of `address` ought to be a schedule point, because
  /// the memory is known to race.
  [[nodiscard]] bool races_at(std::uintptr_t address) noexcept {
    return known_objects_ && active_ && races_.watched(address);
  }

  void allocated(Task& self, std::size_t size, std::uintptr_t pc) noexcept {
    if (looking_out_) look_out(self, trace::AccessKind::kAllocate, size, pc);
  }
  /// `self` is about to free `block`.
  void freed(Task& self, std::uintptr_t block, std::uintptr_t pc) noexcept;

  /// `self` frees what is free already, or what malloc never returned.
  [[noreturn]] void bad_free(Task& self, trace::FindingKind kind, std::uintptr_t block,
                             std::uintptr_t pc) noexcept;
  /// A sanitizer says `message` of `self`'s access to `size` bytes at `address`.
  [[noreturn]] void sanitizer_found(Task& self, trace::AccessKind kind, std::uintptr_t address,
                                    std::size_t size, std::uintptr_t pc,
                                    const char* message) noexcept;

  /// `self` frees `block` with a function of `family`, which did not allocate it.
  [[noreturn]] void wrong_free(Task& self, std::uintptr_t block, std::uintptr_t pc,
                               AllocationFamily family) noexcept;
  /// `self` is about to free `block`, and something was written behind its end.
  [[noreturn]] void overrun_found(Task& self, std::uintptr_t block, std::uintptr_t pc) noexcept;

  /// `self` performed an atomic operation or, with no address, a fence.
  void ordered(const Task& self, const trace::Operation& operation, bool wrote) noexcept {
    if (looking_out_) [[unlikely]]
      note_order(self, operation, wrote);
  }

  /// A lock or an atomic lives at `address`.
  void synchronises(std::uintptr_t address) noexcept {
    if (active_) races_.synchronises(address);
  }

 private:
  [[nodiscard]] bool has_no_origin(std::uintptr_t address) const noexcept {
    return !known_objects_ && !in_subject_heap(address);
  }
  [[nodiscard]] detect::Origin origin_of(std::uintptr_t address) const noexcept override;
  [[nodiscard]] TaskIndex index_of(TaskId id) const noexcept;
  [[nodiscard]] bool is_known(const ObjectId& object) const noexcept;

  void check_bounds(Task& self, detect::Access now, std::uintptr_t address,
                    std::size_t size) noexcept;
  void examine(Task& self, detect::Access now, std::uintptr_t address, std::size_t size) noexcept;
  void look_out(Task& self, trace::AccessKind kind, std::size_t size, std::uintptr_t pc) noexcept;
  void report(Task& self, detect::Access now, std::size_t size,
              const detect::Conflict& conflict) noexcept;
  void describe(const detect::Access& access, std::size_t size,
                trace::FindingAccess& row) const noexcept;
  void describe_block(const HeapBlock& block, const detect::Access& earlier) noexcept;
  void describe_mistake(Task& self, detect::Access now, std::uintptr_t address, std::size_t size,
                        const HeapBlock& block) noexcept;
  HeapBlock describe_bad_free(Task& self, std::uintptr_t pointer, std::uintptr_t pc) noexcept;
  [[nodiscard]] bool passes_over(Task& self, std::uint64_t identity) noexcept;
  [[nodiscard]] std::uint64_t place_of(std::uintptr_t address) const noexcept;
  [[nodiscard]] std::uint64_t identity_of(detect::Access now, const detect::Access& earlier,
                                          std::uint64_t place) const noexcept;

  // weak_order.cc
  /// An atomic whose value the earlier of the two accesses' tasks wrote after that access.
  struct WeakWrite {
    std::uintptr_t address = 0;  // 0: overwritten by another
    trace::WeakSide side;
    WeakWrite* next = nullptr;
  };
  void note_order(const Task& self, const trace::Operation& operation, bool wrote) noexcept;
  [[nodiscard]] WeakWrite* find_weak_write(std::uintptr_t address) noexcept;
  [[nodiscard]] trace::WeakSide weak_side(const Task& self, const trace::Operation& operation,
                                          bool suffices) const noexcept;

  /// A race passed over in this execution; once is enough.
  struct Passed {
    std::uint64_t identity = 0;
    Passed* next = nullptr;
  };

  Execution& execution_;
  detect::RaceDetector races_;
  const bool active_;
  const bool looking_out_;
  bool warming_up_ = false;
  bool known_objects_ = false;
  mutable bool asked_ = false;  // whether the detector asked where memory comes from
  Passed* passed_ = nullptr;
  WeakWrite* weak_writes_ = nullptr;
  bool released_by_fence_ = false;  // the earlier task, after its access
  trace::WeakPair weak_pair_;
};

}  // namespace weft::engine
