// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/image/saved_memory.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>

#include "harness/base/check.h"
#include "harness/base/system_call.h"
#include "harness/image/raw_memory.h"

namespace weft::image {
namespace {

std::uintptr_t page_of(const char* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) & ~(kPageBytes - 1);
}

void set_protection(std::uintptr_t begin, std::uintptr_t end, int protection) noexcept {
  const long result = system_call(SYS_mprotect, begin, end - begin, protection);
  WEFT_CHECK(!is_error(result), "the kernel refuses to protect memory of the subject");
}

}  // namespace

void SavedMemory::clear() noexcept {
  lift();
  ranges_.clear();
  taken_ = false;
}

void SavedMemory::add(char* begin, char* end) noexcept {
  if (begin < end) ranges_.push_back({begin, end, nullptr});
}

void SavedMemory::subtract(const char* begin, const char* end) noexcept {
  if (begin == end) return;
  // Pieces appended here lie outside the hole.
  for (std::size_t i = 0, count = ranges_.size(); i < count; ++i) {
    const Range whole = ranges_[i];
    if (end <= whole.begin || whole.end <= begin) continue;
    ranges_[i].end = begin > whole.begin ? const_cast<char*>(begin) : whole.begin;  // perhaps empty
    add(end < whole.end ? const_cast<char*>(end) : whole.end, whole.end);
  }
}

void SavedMemory::take() noexcept {
  covered_bytes_ = 0;
  for (const Range& range : ranges_) covered_bytes_ += range.size();
  contents_ = Mapping(covered_bytes_);
  std::byte* next = contents_.data();
  for (Range& range : ranges_) {
    raw_copy(next, range.begin, range.size());
    range.saved = next;
    next += range.size();
  }
  taken_ = true;
}

std::size_t SavedMemory::restore() noexcept {
  WEFT_CHECK(taken_, "restore before take");
  std::size_t written = 0;
  if (!guarding_) {
    for (const Range& range : ranges_) {
      written += restore_changed(range.begin, range.saved, range.size());
    }
    return written;
  }
  if (--restores_until_review_ == 0) [[unlikely]]
    return review();
  for (std::size_t i = 0; i < piece_count_; ++i) {
    const Piece& piece = pieces_.data()[i];
    raw_copy(piece.to, piece.from, piece.bytes);
    written += piece.bytes;
  }
  return written;
}

bool SavedMemory::covers(const void* address) const noexcept {
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& range) {
    return address >= range.begin && address < range.end;
  });
}

// --- Guarding

void SavedMemory::find_runs() noexcept {
  for (const Range& range : ranges_) {
    if (range.size() == 0) continue;
    runs_.push_back({page_of(range.begin), page_of(range.end - 1) + kPageBytes, 0});
  }
  std::sort(runs_.begin(), runs_.end(),
            [](const Run& a, const Run& b) { return a.begin < b.begin; });
  std::size_t kept = 0;
  for (const Run& run : runs_) {
    if (kept != 0 && run.begin <= runs_[kept - 1].end) {
      runs_[kept - 1].end = std::max(runs_[kept - 1].end, run.end);
    } else {
      runs_[kept++] = run;
    }
  }
  while (runs_.size() != kept) runs_.pop_back();
  std::size_t pages = 0;
  for (Run& run : runs_) {
    run.first = pages;
    pages += (run.end - run.begin) / kPageBytes;
  }
  pages_ = MappedArray<Page>(pages);
  // Each range ends once within a page, and each page ends once within a range.
  pieces_ = MappedArray<Piece>(pages + ranges_.size());
}

void SavedMemory::guard() noexcept {
  WEFT_CHECK(taken_, "memory is guarded before its contents are known");
  if (guarding_) return;
  if (runs_.empty()) find_runs();
  for (const Run& run : runs_) protect(run);
  guarding_ = true;
}

/// Those of its pages that nobody has written.
void SavedMemory::protect(const Run& run) noexcept {
  const Page* const pages = pages_.data() + run.first;
  const std::size_t count = (run.end - run.begin) / kPageBytes;
  for (std::size_t i = 0; i < count;) {
    if (pages[i] == Page::kWritten) {
      ++i;
      continue;
    }
    const std::size_t first = i;
    while (i < count && pages[i] == Page::kUnwritten) ++i;
    set_protection(run.begin + first * kPageBytes, run.begin + i * kPageBytes, PROT_READ);
  }
}

bool SavedMemory::written(std::uintptr_t address) noexcept {
  if (!guarding_) return false;
  const std::uintptr_t page = address & ~(kPageBytes - 1);
  Page* const state = find_page(page);
  if (state == nullptr || *state == Page::kWritten) return false;
  *state = Page::kWritten;
  set_protection(page, page + kPageBytes, PROT_READ | PROT_WRITE);
  note_written(page);
  return true;
}

SavedMemory::Page* SavedMemory::find_page(std::uintptr_t page) noexcept {
  for (const Run& run : runs_) {
    if (page >= run.begin && page < run.end)
      return &pages_.data()[run.first + (page - run.begin) / kPageBytes];
  }
  return nullptr;
}

void SavedMemory::note_written(std::uintptr_t page) noexcept {
  for (const Range& range : ranges_) {
    char* const begin = std::max(range.begin, reinterpret_cast<char*>(page));
    char* const end = std::min(range.end, reinterpret_cast<char*>(page + kPageBytes));
    if (begin >= end) continue;
    pieces_[piece_count_++] = {begin, range.saved + (begin - range.begin),
                               static_cast<std::size_t>(end - begin)};
  }
}

/// Does what restore() does, and guards those pages again in which it had nothing to do.
std::size_t SavedMemory::review() noexcept {
  review_interval_ *= 2;
  restores_until_review_ = review_interval_;
  std::size_t written = 0;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < piece_count_;) {
    const std::uintptr_t page = page_of(pieces_[i].to);
    const std::size_t first_kept = kept;
    std::size_t changed = 0;
    for (; i < piece_count_ && page_of(pieces_[i].to) == page; ++i) {
      const Piece piece = pieces_[i];
      changed += restore_changed(piece.to, piece.from, piece.bytes);
      pieces_[kept++] = piece;
    }
    written += changed;
    if (changed != 0) continue;
    kept = first_kept;
    *find_page(page) = Page::kUnwritten;
    set_protection(page, page + kPageBytes, PROT_READ);
  }
  piece_count_ = kept;
  return written;
}

void SavedMemory::lift() noexcept {
  if (!guarding_) return;
  for (const Run& run : runs_) set_protection(run.begin, run.end, PROT_READ | PROT_WRITE);
  guarding_ = false;
}

}  // namespace weft::image
