// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "lib/context/context_impl.h"

namespace weftrt::detail {

class ContextCell;

// One published implementation with its reference count. See ContextCell for the protocol.
//
// Aligned so that the low bits of its address are free for ContextCell's counter, and as large as
// it is aligned, so that an address with the counter in it still points into the node: leak
// checkers and debuggers follow it.
class alignas(1024) ContextNode {
 public:
  ContextNode(ContextImpl content, std::uint64_t number)
      : impl(std::move(content)), generation(number) {}

  // Written only before publication.
  ContextImpl impl;
  std::uint64_t generation;  // 0 for the first in its cell, then one more each time

  // For a holder of at least one reference, who will give each of the new ones back by release().
  void add_references(std::int64_t n) noexcept {
    // relaxed: the caller's own reference keeps the node alive; counting alone publishes nothing.
    references_.fetch_add(n, std::memory_order_relaxed);
  }
  // Gives one reference back; the last one deletes the node.
  void release() noexcept { settle(-1); }
  // Ends the cell's hold on the node, of which `handed_out` references are not in the count yet.
  void uninstall(std::int64_t handed_out) noexcept { settle(handed_out - kInstalled); }

 private:
  // Added while the node is in its cell. The count may lack up to kMaxHandedOut references then,
  // which are counted in the cell's word; the bias keeps it from reaching zero meanwhile.
  static constexpr std::int64_t kInstalled = std::int64_t{1} << 32;

  void settle(std::int64_t change) noexcept;

  std::atomic<std::int64_t> references_{kInstalled};
};

// A reference to a node, given back at the end of scope.
class NodeReference {
 public:
  explicit NodeReference(ContextNode& owned) noexcept : node_(&owned) {}
  ~NodeReference() { node_->release(); }
  NodeReference(const NodeReference&) = delete;
  NodeReference& operator=(const NodeReference&) = delete;

  ContextNode& operator*() const noexcept { return *node_; }
  ContextNode* operator->() const noexcept { return node_; }

 private:
  ContextNode* node_;
};

// While the calling thread edits what is to be published in a cell. Within it, a change of that
// cell is refused: it would make the edit start again, which would make the change again, for ever.
// Of another cell it is a change as any other. Reading is free.
class EditInProgress {
 public:
  // Throws as refuse_within() does.
  explicit EditInProgress(const ContextCell& cell);
  ~EditInProgress();
  EditInProgress(const EditInProgress&) = delete;
  EditInProgress& operator=(const EditInProgress&) = delete;

  // Throws std::logic_error where the calling thread is within an edit of `cell`.
  static void refuse_within(const ContextCell& cell);

 private:
  const ContextCell* cell_;
  const EditInProgress* outer_;
};

// A place that holds the current implementation, and from which many threads take references while
// others replace it. Split reference counting: the word holds the node's address and, in the low
// bits, how many references were taken from the cell since the node came in. Taking one is a single
// fetch_add, which yields the address and secures it in the same instant, so no window is left in
// which a reader knows an address that a writer may free. (Anthony Williams, C++ Concurrency in
// Action, 2nd ed., 7.2.4; folly's AtomicSharedPtr. Deviation: the counter sits in the alignment
// bits instead of the address's upper 16, so nothing is assumed about the width of addresses.)
//
// Thread-safety: every member function may be called from any thread, except the destructor.
//
// Invariants:
//  1. The word always names a node that is published and not deleted.
//  2. references held on a node = its count - (installed ? kInstalled : 0)
//                                 + (installed ? the word's counter : 0).
//  3. A node leaves its cell once and never comes back. So whoever holds a reference and finds the
//     node's address in the word knows that it is this node, not a successor at the same address.
//  4. A node is deleted by whoever gives back its last reference, at once.
//  5. A published node is never written, except for its count.
//  6. A published node is complete, by refuse_incomplete(): what is not is refused before anything
//     changes.
//  7. A thread changes a cell by one edit at a time: a change of it within an edit of it throws.
//
// Costs: acquire() one fetch_add; release() one fetch_sub; update() one allocation and copy per
// attempt, and one look at each thread that reads; lock-free: an attempt fails only because another
// update succeeded.
class ContextCell {
 public:
  explicit ContextCell(ContextImpl initial);  // throws as refuse_incomplete() does
  ~ContextCell();  // nobody may use the cell any more; nodes with references live on
  ContextCell(const ContextCell&) = delete;
  ContextCell& operator=(const ContextCell&) = delete;

  // The current node's identity, to compare with that of a node the caller holds (invariant 3); the
  // result itself is not secured and must not be dereferenced otherwise.
  [[nodiscard]] const ContextNode* peek() const noexcept {
    // seq_cst: see current_after_change().
    return node_of(word_.load(std::memory_order_seq_cst));
  }

  // Whether somebody is replacing the node at this instant.
  [[nodiscard]] bool is_changing() const noexcept {
    return changing_.load(std::memory_order_seq_cst) != 0;
  }

  // The current node with one reference, which the caller gives back by release().
  [[nodiscard]] ContextNode& acquire() noexcept;

  // Publishes a copy of the current implementation as edited by `edit(ContextImpl&)`, and returns
  // its generation. `edit` runs again on a fresh copy whenever another thread published in between;
  // if it throws, nothing is published. Throws std::logic_error within an edit of this cell, and as
  // refuse_incomplete() does.
  template <class Edit>
  std::uint64_t update(Edit&& edit) {
    for (;;) {
      const NodeReference base(acquire());  // also keeps its address from coming back (invariant 3)
      auto next = std::make_unique<ContextNode>(base->impl, base->generation + 1);
      {
        const EditInProgress mark(*this);
        edit(next->impl);
      }
      refuse_incomplete(next->impl);
      if (replace(*base, next)) return base->generation + 1;
    }
  }

  // Publishes `next` and returns what it replaced. Throws as update() does.
  ContextImpl swap(ContextImpl next);

 private:
  using Word = std::uintptr_t;

  static constexpr Word kMaxHandedOut = alignof(ContextNode) - 1;
  // From here on acquire() moves the word's counter into the node. What is left above it,
  // 1023 - 128 = 895, is the number of threads that may be between its two steps at the same time.
  static constexpr Word kMoveAt = 128;
  static_assert(sizeof(ContextNode) > kMaxHandedOut, "a counted address points into its node");

  static ContextNode* node_of(Word word) noexcept {
    return reinterpret_cast<ContextNode*>(word & ~kMaxHandedOut);
  }
  static Word handed_out(Word word) noexcept { return word & kMaxHandedOut; }
  static Word word_for(const ContextNode& node) noexcept {
    return reinterpret_cast<Word>(&node);  // nothing handed out yet
  }

  // Publishes `next`, taking it over, if `base` is still current; the caller holds `base`.
  bool replace(ContextNode& base, std::unique_ptr<ContextNode>& next) noexcept;
  void move_count_into(ContextNode& node) noexcept;

  std::atomic<Word> word_;
  std::atomic<std::uint32_t> changing_{0};  // calls of replace() in progress
};

// Nodes that were published and are not deleted yet, over all cells. Exact when no update is in
// progress; one in progress may not be counted yet.
[[nodiscard]] std::size_t live_nodes() noexcept;

}  // namespace weftrt::detail
