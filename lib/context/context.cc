// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/context/context.h"

#include <atomic>
#include <memory>
#include <utility>

#include "lib/base/check.h"
#include "lib/base/thread_exit.h"
#include "lib/context/override.h"

namespace weftrt {

namespace detail {
namespace {

constinit std::atomic<ContextCell*> g_global{nullptr};

// The slot lets go of what it holds. Pins that shared its reference get one each.
void drop_held(ContextSlot& slot) noexcept {
  ContextNode* const held = std::exchange(slot.held, nullptr);
  const std::uint32_t pins = std::exchange(slot.pins, 0);
  if (held == nullptr) return;
  if (pins == 0)
    held->release();
  else if (pins > 1)
    held->add_references(pins - 1);
}

// A later destructor that reads again attaches the slot again.
void release_slot_at_thread_exit() {
  ContextSlot& slot = t_context;
  nothing_usable(slot);
  if (slot.record != &g_nobody) give_back_reader_record(*std::exchange(slot.record, &g_nobody));
  drop_held(slot);
  drop_snapshot();
}

// What the thread follows: what the innermost override says, if any says something.
ContextCell& followed_cell() {
  const OverrideFrame* const frame = innermost_that_says();
  return frame == nullptr ? base_cell() : frame->cell();
}

}  // namespace

constinit ReaderRecord g_nobody;
constinit thread_local ContextSlot t_context{.record = &g_nobody};

ContextCell& global_cell() {
  // acquire: pairs with the release below: the cell is constructed.
  if (ContextCell* cell = g_global.load(std::memory_order_acquire)) return *cell;
  auto mine = std::make_unique<ContextCell>(ContextImpl{});
  ContextCell* others = nullptr;
  // Only if nobody else was first: two cells would split the threads into two groups that do not
  // see each other's changes. release: pairs with the acquire above, acquire with this release.
  if (!g_global.compare_exchange_strong(others, mine.get(), std::memory_order_acq_rel,
                                        std::memory_order_acquire))
    return *others;
  return *mine.release();
}

void attach_slot() {
  ContextSlot& slot = t_context;
  if (slot.record != &g_nobody) return;
  ReaderRecord& record = take_reader_record();
  try {
    at_thread_exit(&release_slot_at_thread_exit);
  } catch (...) {
    give_back_reader_record(record);
    throw;
  }
  slot.record = &record;
}

// Why no change is missed, and none is seen by one thread and then missed by another that this one
// told of it. We show what we hold, ask whether the cell is changing, and look at the cell once
// more; a writer says that it is changing, nulls what the threads that follow it show, replaces
// what is in the cell, and says that it is done. All of these, and the change of `follows`, are
// seq_cst, hence in one order. If we asked before the writer said so, we showed before it nulled:
// it nulled what we showed. If we asked while it was at it, we keep nothing. If we asked
// afterwards, we look at what it put there. So from before the replacement on, nobody has the old
// node without a look at the cell, and the replacement is where the change takes effect for all.
// And a writer that did not find us following has looked before we began, so we see its change.
//
// Where we find a change, what we hold is returned all the same: it was in the cell after this read
// began. So that a reader does not run after a writer, nor wait for it.
const ContextImpl& current_after_change() {
  ContextCell& cell = followed_cell();
  attach_slot();
  ContextSlot& slot = t_context;
  ReaderRecord& record = *slot.record;
  if (record.follows.load(std::memory_order_relaxed) != &cell)
    record.follows.store(&cell, std::memory_order_seq_cst);
  if (slot.held == nullptr || cell.peek() != slot.held) {
    drop_held(slot);  // first, so that a thread never holds two (invariant 5)
    slot.held = &cell.acquire();
  }
  record.usable.store(slot.held, std::memory_order_seq_cst);
  if (cell.is_changing() || cell.peek() != slot.held) nothing_usable(slot);
  return slot.held->impl;
}

}  // namespace detail

void ContextPin::release_shared() noexcept {
  detail::check(&detail::t_context == owner_, "a context pin was destroyed on another thread");
  node_->release();
}

ContextImpl swap_global(ContextImpl next) { return detail::global_cell().swap(std::move(next)); }

std::uint64_t generation() {
  const detail::NodeReference node(detail::global_cell().acquire());
  return node->generation;
}

std::size_t live_implementations() noexcept { return detail::live_nodes(); }

}  // namespace weftrt
