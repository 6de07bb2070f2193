// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The writable segments of the subject's modules, snapshotted once and restored between executions,
// so that a static counter, a magic static's guard or a lazily filled global is the same in
// execution 1 and in execution 1,000.
//
// What is restored: every writable PT_LOAD segment of the modules that the policy accepts, less
//   - pages that are read-only after relocation,
//   - the procedure linkage table's slots: resolving a function lazily is not state of the subject,
//     and restoring the slots would repeat every look-up in every execution,
//   - ranges excluded by the caller.
//
// Use: exclude() what the harness keeps in these modules, warm up, snapshot(), then restore()
// between executions, when every task is gone or parked outside the subject. Modules loaded later
// are not covered; snapshot() again covers them.
//
// Thread-safety: one thread at a time, with no other thread running in the covered modules.
// Allocates only mappings. The object itself must lie outside the covered segments (see
// MappedObject).
#pragma once

#include <cstddef>

#include "harness/base/fixed_vector.h"
#include "harness/image/loaded_module.h"
#include "harness/image/saved_memory.h"

namespace weft::image {

class SegmentImage {
 public:
  static constexpr std::size_t kMaxExclusions = 256;

  explicit SegmentImage(ModulePolicy policy = belongs_to_subject) noexcept : policy_(policy) {}

  // Leaves [begin, end) alone, wherever it lies. Before snapshot().
  void exclude(const void* begin, const void* end) noexcept;

  // Remembers the present contents, replacing an earlier snapshot.
  void snapshot() noexcept;

  // Puts the remembered contents back; returns how many bytes had to be written (in blocks of 64).
  std::size_t restore() noexcept { return memory_.restore(); }

  bool taken() const noexcept { return memory_.taken(); }
  // How much restore() puts back, if all of it changed.
  std::size_t covered_bytes() const noexcept { return memory_.covered_bytes(); }
  bool covers(const void* address) const noexcept { return memory_.covers(address); }
  /// visit(first byte, one past the last) for each range that restore() restores.
  template <typename Visitor>
  void for_each_range(Visitor&& visit) const noexcept {
    memory_.for_each_range(visit);
  }
  SavedMemory& memory() noexcept { return memory_; }

 private:
  struct Exclusion {
    const char* begin;
    const char* end;
  };

  void collect(const LoadedModule& module) noexcept;

  ModulePolicy policy_;
  FixedVector<Exclusion, kMaxExclusions> exclusions_;
  SavedMemory memory_;
};

}  // namespace weft::image
