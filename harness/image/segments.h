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
#include "harness/base/mapping.h"
#include "harness/image/loaded_module.h"

namespace weft::image {

class SegmentImage {
 public:
  static constexpr std::size_t kMaxRanges = 2048;  // segments, times the holes made in them
  static constexpr std::size_t kMaxExclusions = 256;

  explicit SegmentImage(ModulePolicy policy = belongs_to_subject) noexcept : policy_(policy) {}

  // Leaves [begin, end) alone, wherever it lies. Before snapshot().
  void exclude(const void* begin, const void* end) noexcept;

  // Remembers the present contents, replacing an earlier snapshot.
  void snapshot() noexcept;

  // Puts the remembered contents back; returns how many bytes had to be written (in blocks of 64).
  std::size_t restore() noexcept;

  bool taken() const noexcept { return !contents_.empty(); }
  // How much is compared by each restore().
  std::size_t covered_bytes() const noexcept { return covered_bytes_; }
  bool covers(const void* address) const noexcept;
  /// visit(first byte, one past the last) for each range that restore() restores.
  template <typename Visitor>
  void for_each_range(Visitor&& visit) const noexcept {
    for (const Range& range : ranges_) visit(range.begin, range.end);
  }

 private:
  struct Range {
    char* begin;
    char* end;
    std::size_t size() const noexcept { return static_cast<std::size_t>(end - begin); }
  };

  void collect(const LoadedModule& module) noexcept;
  void add(Range range) noexcept;
  void subtract(Range hole) noexcept;

  ModulePolicy policy_;
  FixedVector<Range, kMaxExclusions> exclusions_;
  FixedVector<Range, kMaxRanges> ranges_;
  Mapping contents_;  // of the ranges, one after the other
  std::size_t covered_bytes_ = 0;
};

}  // namespace weft::image
