// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/detect/race_detector.h"

#include <bit>

namespace weft::detect {
namespace {

constexpr std::uintptr_t kGranule = Shadow::kGranule;

/// Calls visit(granule's address, first byte, one past the last byte) for each granule touched.
template <typename Visit>
void for_each_granule(std::uintptr_t address, std::size_t size, Visit visit) noexcept {
  const std::uintptr_t end = address + size;
  for (std::uintptr_t granule = address - address % kGranule; granule < end; granule += kGranule) {
    const std::uintptr_t from = granule < address ? address - granule : 0;
    const std::uintptr_t to = end - granule < kGranule ? end - granule : kGranule;
    visit(granule, static_cast<std::uint8_t>(from), static_cast<std::uint8_t>(to));
  }
}

}  // namespace

Cell& RaceDetector::fresh_cell(std::uintptr_t address) noexcept {
  Cell& cell = shadow_.cell(address);
  if (cell.generation == generation_) [[likely]]
    return cell;
  cell = Cell{};
  cell.generation = generation_;
  const Origin origin = origins_.origin_of(address);
  // A free is kept as the write that no later access is ordered after.
  cell.history.write = origin.freed.none() ? origin.allocated : origin.freed;
  cell.watched = origin.watched;
  return cell;
}

bool RaceDetector::touch(std::uintptr_t address, std::size_t size, Access now,
                         Conflict& conflict) noexcept {
  bool found = false;
  const auto examine = [&](History& history, std::uintptr_t at) {
    if (!found) {
      if (const Access* earlier = conflict_in(history, now)) {
        conflict = {*earlier, at};
        found = true;
      }
    }
    note(history, now);
  };
  for_each_granule(address, size, [&](std::uintptr_t granule, std::uint8_t from, std::uint8_t to) {
    Cell& cell = fresh_cell(granule);
    if (is_atomic(now.what())) cell.synchronises = true;
    if (cell.end == 0) {
      cell.begin = from;
      cell.end = to;
    }
    if (History* const exactly = cell.history_of(from, std::size_t{to} - from))
      return examine(*exactly, granule + from);
    split(cell, granule, from, to);
    for (std::size_t at = from; at < to; at += cell.piece_size())
      examine(cell.pieces()[at / cell.piece_size()], granule + at);
  });
  return found;
}

bool RaceDetector::release(std::uintptr_t address, std::size_t size, Access now, Conflict& conflict,
                           model::HappensBefore& order) noexcept {
  bool found = false;
  const auto examine = [&](const History& history, std::uintptr_t at) {
    if (found) return;
    if (const Access* earlier = conflict_in(history, now)) {
      conflict = {*earlier, at};
      found = true;
    }
  };
  for_each_granule(address, size, [&](std::uintptr_t granule, std::uint8_t, std::uint8_t) {
    Cell* const cell = shadow_.find(granule);
    if (cell == nullptr || cell->generation != generation_) return;
    if (cell->split()) {
      for (std::size_t at = 0; at < kGranule; at += cell->piece_size())
        examine(cell->pieces()[at / cell->piece_size()], granule + at);
    } else {
      examine(cell->history, granule + cell->begin);
    }
    if (cell->synchronises) {
      for (std::uint8_t byte = 0; byte < kGranule; ++byte) order.forget(granule + byte);
    }
    // Whoever comes next finds a fresh cell and asks where the memory comes from.
    cell->generation = generation_ - 1;
  });
  return found;
}

const Access* RaceDetector::conflict_in(const History& history, Access now) const noexcept {
  if (history.write.what() == AccessKind::kFree && !history.write.none()) return &history.write;
  if (unordered(history.write, now)) return &history.write;
  if (is_write(now.what())) {
    if (unordered(history.read, now)) return &history.read;
    for (const AccessList* read = history.more_reads; read != nullptr; read = read->next) {
      if (unordered(read->access, now)) return &read->access;
    }
  }
  if (is_atomic(now.what())) return nullptr;
  for (const AccessList* atomic = history.atomics; atomic != nullptr; atomic = atomic->next) {
    const bool one_writes = is_write(now.what()) || is_write(atomic->access.what());
    if (one_writes && unordered(atomic->access, now)) return &atomic->access;
  }
  return nullptr;
}

void RaceDetector::note(History& history, Access now) noexcept {
  switch (now.what()) {
    case AccessKind::kRead: return note_read(history, now);
    case AccessKind::kAtomicRead:
    case AccessKind::kAtomicWrite: return note_atomic(history, now);
    case AccessKind::kWrite:
    case AccessKind::kAllocate:
    case AccessKind::kFree:
      // All that went before precedes it, or has just been found not to.
      history = History{};
      history.write = now;
      return;
  }
}

void RaceDetector::note_read(History& history, Access now) noexcept {
  const bool follows = history.read.none() || history.read.task == now.task ||
                       (history.more_reads == nullptr && !unordered(history.read, now));
  if (follows) {
    history.read = now;
    return;
  }
  for (AccessList* read = history.more_reads; read != nullptr; read = read->next) {
    if (read->access.task == now.task) {
      read->access = now;
      return;
    }
  }
  history.more_reads = arena_.make<AccessList>(now, history.more_reads);
}

void RaceDetector::note_atomic(History& history, Access now) noexcept {
  for (AccessList* atomic = history.atomics; atomic != nullptr; atomic = atomic->next) {
    if (atomic->access.is_like(now)) {
      atomic->access = now;
      return;
    }
  }
  history.add_atomic(now, arena_);
}

void RaceDetector::split(Cell& cell, std::uintptr_t granule, std::uint8_t from,
                         std::uint8_t to) noexcept {
  // Pieces begin and end at multiples of their size, a power of two.
  const unsigned bounds = cell.split() ? cell.piece_size() : unsigned{cell.begin} | cell.end;
  const auto size = static_cast<std::uint8_t>(1u << std::countr_zero(bounds | from | to));
  if (cell.split() && size == cell.piece_size()) return;
  const std::span<History> pieces = arena_.make_array<History>(kGranule / size);
  for (std::size_t at = 0; at < kGranule; at += size) {
    History& piece = pieces[at / size];
    if (!cell.split() && (at < cell.begin || at >= cell.end)) {
      piece.write = origins_.origin_of(granule + at).allocated;
      continue;
    }
    piece = cell.split() ? cell.pieces()[at / cell.piece_size()] : cell.history;
    piece.more_reads = copy(piece.more_reads);
    piece.atomics = copy(piece.atomics);
  }
  cell.set_split(pieces.data(), size);
}

AccessList* RaceDetector::copy(const AccessList* list) noexcept {
  AccessList* first = nullptr;
  for (; list != nullptr; list = list->next) {
    first = arena_.make<AccessList>(list->access, first);
  }
  return first;
}

}  // namespace weft::detect
