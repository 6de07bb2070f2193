// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/context/cell.h"

#include <stdexcept>

#include "lib/base/check.h"
#include "lib/context/readers.h"

namespace weftrt::detail {
namespace {

// Signed: a node is counted just after its publication, and may be deleted by others before that.
constinit std::atomic<std::int64_t> g_live_nodes{0};

constinit thread_local const EditInProgress* t_edits = nullptr;  // innermost

ContextNode& first_node(ContextImpl content) {
  refuse_incomplete(content);
  return *new ContextNode(std::move(content), 0);
}

}  // namespace

std::size_t live_nodes() noexcept {
  // relaxed, here and below: a statistic, which orders nothing.
  const std::int64_t live = g_live_nodes.load(std::memory_order_relaxed);
  return live < 0 ? 0 : static_cast<std::size_t>(live);
}

void ContextNode::settle(std::int64_t change) noexcept {
  // release: pairs with the acquire of whoever reaches zero: our reads of the node come before its
  // deletion. acquire: pairs with those releases, in case that is us.
  if (references_.fetch_add(change, std::memory_order_acq_rel) + change != 0) return;
  delete this;
  g_live_nodes.fetch_sub(1, std::memory_order_relaxed);
}

EditInProgress::EditInProgress(const ContextCell& cell) : cell_(&cell), outer_(t_edits) {
  refuse_within(cell);
  t_edits = this;
}

EditInProgress::~EditInProgress() { t_edits = outer_; }

void EditInProgress::refuse_within(const ContextCell& cell) {
  for (const EditInProgress* edit = t_edits; edit != nullptr; edit = edit->outer_) {
    if (edit->cell_ == &cell)
      throw std::logic_error(
          "a context is changed within an edit of it: change what the edit was given, or make the "
          "other change before or after it");
  }
}

ContextCell::ContextCell(ContextImpl initial) : word_(word_for(first_node(std::move(initial)))) {
  g_live_nodes.fetch_add(1, std::memory_order_relaxed);
}

ContextCell::~ContextCell() {
  // relaxed: whoever destroys the cell has synchronised with all its users.
  const Word last = word_.load(std::memory_order_relaxed);
  node_of(last)->uninstall(static_cast<std::int64_t>(handed_out(last)));
}

ContextNode& ContextCell::acquire() noexcept {
  // acquire: pairs with the release in replace(), also through the fetch_adds of other readers,
  // which continue its release sequence: the node's fields are visible.
  const Word before = word_.fetch_add(1, std::memory_order_acquire);
  check(handed_out(before) < kMaxHandedOut,
        "more than 895 threads are taking a reference to the context at the same instant");
  ContextNode& node = *node_of(before);
  if (handed_out(before) >= kMoveAt) [[unlikely]]
    move_count_into(node);
  return node;
}

void ContextCell::move_count_into(ContextNode& node) noexcept {
  // We hold a reference, so the node stays, in the cell or not.
  Word word = word_.load(std::memory_order_relaxed);  // only the first guess of the exchange below
  while (node_of(word) == &node && handed_out(word) >= kMoveAt) {
    const auto moved = static_cast<std::int64_t>(handed_out(word));
    node.add_references(moved);
    // release: pairs with the acquire in replace(): the count has grown before the writer who finds
    // the word's counter reset takes kInstalled off it; otherwise it could touch zero too early.
    if (word_.compare_exchange_weak(word, word_for(node), std::memory_order_release,
                                    std::memory_order_relaxed))
      return;
    node.add_references(-moved);  // never the last: our own reference is still out
  }
}

bool ContextCell::replace(ContextNode& base, std::unique_ptr<ContextNode>& next) noexcept {
  // seq_cst, all of it: see current_after_change().
  changing_.fetch_add(1, std::memory_order_seq_cst);
  tell_readers_of(*this);
  Word word = word_.load(std::memory_order_relaxed);  // only the first guess of the exchange below
  bool replaced = false;
  while (!replaced && node_of(word) == &base) {
    // release: pairs with the acquire in acquire(): readers see the fields of `next`.
    // acquire: pairs with the release in move_count_into().
    replaced = word_.compare_exchange_weak(word, word_for(*next), std::memory_order_seq_cst,
                                           std::memory_order_relaxed);
  }
  changing_.fetch_sub(1, std::memory_order_seq_cst);
  if (!replaced) return false;
  g_live_nodes.fetch_add(1, std::memory_order_relaxed);
  [[maybe_unused]] const ContextNode* const now_the_cells = next.release();
  base.uninstall(static_cast<std::int64_t>(handed_out(word)));
  return true;
}

ContextImpl ContextCell::swap(ContextImpl next) {
  EditInProgress::refuse_within(*this);
  refuse_incomplete(next);
  auto node = std::make_unique<ContextNode>(std::move(next), 0);
  for (;;) {
    const NodeReference base(acquire());
    node->generation = base->generation + 1;
    if (replace(*base, node)) return base->impl;
  }
}

}  // namespace weftrt::detail
