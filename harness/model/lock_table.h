// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Who holds which lock: mutexes and the like, readers-writer locks by any number of
// readers, and once-blocks and magic statics while their initialiser runs. Answers 'who holds what
// I wait for', 'what do I hold' and 'is it mine to release'.
#pragma once

#include <cstdint>

#include "harness/base/bounded_vector.h"
#include "harness/base/flat_map.h"
#include "harness/base/ids.h"

namespace weft::model {

enum class LockKind : std::uint8_t {
  kMutex,
  kReadersWriter,
  kSpin,
  kInitialiser,  // a once-block's or magic static's
  kLoader,
  kFile,  // the one in a FILE
};

struct Hold {
  std::uintptr_t address = 0;
  std::uintptr_t acquired_pc = 0;
  TaskIndex holder = kNoTaskIndex;
  std::uint32_t depth = 0;  // recursive locks
  bool shared = false;      // by a reader
  LockKind kind = LockKind::kMutex;
};

class LockTable {
 public:
  void clear() noexcept {
    if (holds_.empty()) return;
    holds_.clear();
    forget_positions();
  }

  void acquired(std::uintptr_t address, TaskIndex holder, std::uintptr_t pc,
                LockKind kind = LockKind::kMutex) noexcept {
    const std::size_t at = find(address);
    if (at < holds_.size()) {
      Hold& hold = holds_[at];
      // A lock destroyed while held leaves a hold behind; its memory now has another lock.
      if (hold.holder == holder && hold.kind == kind) {
        ++hold.depth;
      } else {
        hold = {address, pc, holder, 1, false, kind};
      }
      return;
    }
    if (indexed_) position_.insert(address, static_cast<std::uint32_t>(holds_.size()));
    holds_.push_back({address, pc, holder, 1, false, kind});
    if (!indexed_ && holds_.size() > kScanned) note_positions();
  }

  void released(std::uintptr_t address) noexcept {
    const std::size_t at = find(address);
    if (at == holds_.size() || --holds_[at].depth > 0) return;
    if (indexed_) position_.erase(address);
    remove(at);
  }

  void acquired_shared(std::uintptr_t address, TaskIndex holder, std::uintptr_t pc) noexcept {
    const std::size_t at = find_shared(address, holder);
    if (at < holds_.size()) {
      ++holds_[at].depth;
    } else {
      holds_.push_back({address, pc, holder, 1, true, LockKind::kReadersWriter});
    }
  }

  /// One who is not known to hold it releases what was taken before the exploration: see
  /// read_depth().
  void released_shared(std::uintptr_t address, TaskIndex holder) noexcept {
    const std::size_t at = find_shared(address, holder);
    if (at < holds_.size() && --holds_[at].depth == 0) remove(at);
  }

  /// Who has it for itself alone; kNoTaskIndex when nobody is known to.
  [[nodiscard]] TaskIndex holder(std::uintptr_t address) const noexcept {
    const std::size_t at = find(address);
    return at < holds_.size() ? holds_[at].holder : kNoTaskIndex;
  }

  /// Whether `task` is one of its readers.
  [[nodiscard]] bool reads(std::uintptr_t address, TaskIndex task) const noexcept {
    return find_shared(address, task) < holds_.size();
  }
  /// How often it has been taken shared, by whomever. Less than the lock itself says where some
  /// of it was before the exploration.
  [[nodiscard]] std::uint32_t read_depth(std::uintptr_t address) const noexcept {
    std::uint32_t depth = 0;
    for (const Hold& hold : holds_) {
      if (hold.shared && hold.address == address) depth += hold.depth;
    }
    return depth;
  }

  /// Every task that holds it, alone or with others.
  template <typename Visit>
  void for_each_holder(std::uintptr_t address, Visit visit) const noexcept {
    for (const Hold& hold : holds_) {
      if (hold.address == address) visit(hold.holder);
    }
  }

  template <typename Visit>
  void for_each(Visit visit) const noexcept {
    for (const Hold& hold : holds_) visit(hold);
  }
  template <typename Visit>
  void for_each_held_by(TaskIndex task, Visit visit) const noexcept {
    for (const Hold& hold : holds_) {
      if (hold.holder == task) visit(hold);
    }
  }

 private:
  [[nodiscard]] std::size_t find_shared(std::uintptr_t address, TaskIndex holder) const noexcept {
    std::size_t at = 0;
    for (const Hold& hold : holds_) {
      if (hold.shared && hold.address == address && hold.holder == holder) break;
      ++at;
    }
    return at;
  }

  // Few locks are held at a time, as a rule, and are found sooner by looking at each.
  static constexpr std::size_t kScanned = 16;

  /// Who has it alone: the place among the holds, or their number.
  [[nodiscard]] std::size_t find(std::uintptr_t address) const noexcept {
    if (indexed_) {
      const std::uint32_t* const at = position_.find(address);
      return at == nullptr ? holds_.size() : *at;
    }
    std::size_t at = 0;
    for (const Hold& hold : holds_) {
      if (hold.address == address && !hold.shared) break;
      ++at;
    }
    return at;
  }

  void note_positions() noexcept {
    indexed_ = true;
    for (std::uint32_t i = 0; i < holds_.size(); ++i) {
      if (!holds_[i].shared) position_.insert(holds_[i].address, i);
    }
  }
  void forget_positions() noexcept {
    if (indexed_) position_.clear();
    indexed_ = false;
  }

  void remove(std::size_t hole) noexcept {
    const std::size_t last = holds_.size() - 1;
    if (hole != last) {
      holds_[hole] = holds_[last];
      if (indexed_ && !holds_[hole].shared)
        position_.insert(holds_[hole].address, static_cast<std::uint32_t>(hole));
    }
    holds_.pop_back();
    if (holds_.empty()) forget_positions();
  }

  static constexpr std::size_t kMaxHeld = 1 << 16;
  BoundedVector<Hold> holds_{kMaxHeld};
  FlatMap<std::uint32_t> position_{64};  // of those who hold one alone, where indexed_
  bool indexed_ = false;
};

}  // namespace weft::model
