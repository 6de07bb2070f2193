// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ranges of memory, what was in them, and the way back.
//
// To compare everything in every execution costs microseconds, and hardly anything changes. Where
// guard() is called, the pages that nobody has written yet are write-protected: the first write of
// all executions faults, written() lets it through, and from then on restore() copies that page's
// bytes without asking. In the steady state nothing faults, and what is never written costs
// nothing.
//
// What was written once need not be so again: the dynamic linker writes beside the subject's
// variables where it binds a function at its first call. So after kFirstReview restores, twice as
// many and so on, the pages that were written are compared, and those in which nothing has changed
// are guarded again.
//
// The kernel does not fault: a system call that would write there fails. Whoever guards sees to it
// that no system call meets a guarded page (system_call_trap.h), and calls lift() before one.
//
// Thread-safety: one thread at a time. written() and lift() may be called in a signal handler that
// interrupted code outside this object.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/base/fixed_vector.h"
#include "harness/base/mapped_array.h"
#include "harness/base/mapping.h"

namespace weft::image {

class SavedMemory {
 public:
  static constexpr std::size_t kMaxRanges = 2048;
  static constexpr std::uint64_t kFirstReview = 16;

  void clear() noexcept;
  // [begin, end); overlaps no other range.
  void add(char* begin, char* end) noexcept;
  // Takes [begin, end) out of the ranges again.
  void subtract(const char* begin, const char* end) noexcept;

  // Remembers the present contents of the ranges.
  void take() noexcept;
  bool taken() const noexcept { return taken_; }

  // Puts them back; returns how many bytes were written.
  std::size_t restore() noexcept;

  void guard() noexcept;
  // Whether `address` lies in a guarded page, which is no longer guarded now.
  bool written(std::uintptr_t address) noexcept;
  // Guards nothing any more; the next restore() looks everywhere.
  void lift() noexcept;

  std::size_t covered_bytes() const noexcept { return covered_bytes_; }
  bool covers(const void* address) const noexcept;
  template <typename Visitor>
  void for_each_range(Visitor&& visit) const noexcept {
    for (const Range& range : ranges_) visit(range.begin, range.end);
  }

 private:
  struct Range {
    char* begin;
    char* end;
    const std::byte* saved;
    std::size_t size() const noexcept { return static_cast<std::size_t>(end - begin); }
  };
  /// Pages side by side of which each has something of a range.
  struct Run {
    std::uintptr_t begin;
    std::uintptr_t end;
    std::size_t first;  // the number of its first page among all
  };
  /// Bytes that are put back in every execution.
  struct Piece {
    char* to;
    const std::byte* from;
    std::size_t bytes;
  };
  enum class Page : unsigned char { kUnwritten, kWritten };

  void find_runs() noexcept;
  void protect(const Run& run) noexcept;
  Page* find_page(std::uintptr_t page) noexcept;
  void note_written(std::uintptr_t page) noexcept;
  std::size_t review() noexcept;

  FixedVector<Range, kMaxRanges> ranges_;
  Mapping contents_;  // of the ranges, one after the other
  std::size_t covered_bytes_ = 0;
  bool taken_ = false;

  FixedVector<Run, kMaxRanges> runs_;  // ascending
  MappedArray<Page> pages_;            // of the runs, one after the other
  MappedArray<Piece> pieces_;
  std::size_t piece_count_ = 0;  // those of one page side by side
  bool guarding_ = false;
  std::uint64_t review_interval_ = kFirstReview;
  std::uint64_t restores_until_review_ = kFirstReview;
};

}  // namespace weft::image
