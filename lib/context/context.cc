// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/context/context.h"

#include <atomic>
#include <mutex>

#include "lib/base/check.h"
#include "lib/base/thread_exit.h"

namespace weftrt {

namespace detail {
namespace {

constinit std::atomic<ContextCell*> g_global{nullptr};
constinit std::mutex g_global_creation;

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

void release_slot_at_thread_exit() {
  t_context.registered_for_exit = false;  // a later destructor that reads again registers again
  drop_held(t_context);
}

}  // namespace

constinit UnboundCell g_unbound;
constinit thread_local ContextSlot t_context{.cell = &g_unbound.cell};

ContextCell& global_cell() {
  // acquire: pairs with the release below: the cell is constructed.
  if (ContextCell* cell = g_global.load(std::memory_order_acquire)) return *cell;
  const std::lock_guard lock(g_global_creation);
  // Again, now that nobody else can be creating it: two cells would split the threads into two
  // groups that do not see each other's changes. relaxed: the mutex orders it after that store.
  if (ContextCell* cell = g_global.load(std::memory_order_relaxed)) return *cell;
  auto* const created = new ContextCell(ContextImpl{});
  g_global.store(created, std::memory_order_release);  // release: pairs with the acquire above
  return *created;
}

const ContextImpl& current_after_change() {
  ContextSlot& slot = t_context;
  if (slot.cell == &g_unbound.cell) slot.cell = &global_cell();
  if (!slot.registered_for_exit) {
    at_thread_exit(&release_slot_at_thread_exit);
    slot.registered_for_exit = true;
  }
  drop_held(slot);  // first, so that a thread never holds two (invariant 5)
  slot.held = &slot.cell->acquire();
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
