// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The heap of the code under test: what tasks get from malloc and new.
//
// It differs from a general allocator in what it promises:
//   1. The same requests in the same order get the same addresses and the same contents, in every
//      execution of every process: the region's address is fixed, reset() goes back to the
//      baseline, fresh memory reads as zeros, and no decision depends on time, addresses or
//      threads.
//   2. Every block has an identity that does not depend on the schedule: the allocating task and
//   that
//      task's allocation ordinal. find() gives it for any interior pointer in constant time.
//   3. A freed block stays in quarantine, filled with kPoison, until later frees push it out; its
//   record
//      says who allocated it and who freed it until the block is handed out again.
//   4. Misuse is a verdict, never an abort: what to make of it is the detectors' business.
//
// What was allocated before the exploration starts (static initialisers, a test framework's
// registry) becomes the baseline with seal(); reset() restores those blocks too, contents included.
// What comes later gets addresses that do not depend on the baseline, which differs with a
// program's flags: blocks of its own, from the middle of each slice on (up to blocks of
// kSharedFrom).
//
// Layout: one region, one equal slice of it per size class, blocks side by side in the slice
// without headers; the records lie apart, where an overrun does not reach them. Address -> class is
// a shift, class -> index a multiplication.
//
// Thread-safety: none; only the running task calls it. find(), owns() and usable_size() only read,
// and may be called in a signal handler. Invariants: 1. A block is in exactly one of: live, the
// quarantine's queue, its class's free list.
// 2. Blocks at or past `used` in their class have never been handed out since the baseline, and
// read as zeros. 3. `used` never falls except by reset().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "harness/base/address_sanitizer.h"
#include "harness/base/allocation_family.h"
#include "harness/base/ids.h"
#include "harness/base/mapping.h"
#include "harness/image/saved_memory.h"
#include "harness/image/size_classes.h"

namespace weft::image {

// Who did something to a block, and where.
struct BlockEvent {
  TaskId task;
  StepIndex step = 0;
  const void* site = nullptr;  // the caller's program counter
};

enum class BlockState : std::uint8_t {
  kFree,  // handed back and through the quarantine: it may be handed out again at any time
  kLive,
  kQuarantined,  // freed; whoever touches it uses memory after its free
};

// One cache line.
struct BlockRecord {
  BlockEvent allocated;
  BlockEvent freed;       // meaningful unless live
  std::uint32_t size;     // as requested
  std::uint32_t ordinal;  // among the allocations of allocated.task
  std::uint32_t next;     // in the quarantine or the free list
  BlockState state;
  bool baseline;  // live since before seal(): not a leak of the test
  AllocationFamily family;
};
static_assert(sizeof(BlockRecord) == 64);

// A block and a place in it; no block when `record` is null.
struct BlockView {
  const BlockRecord* record = nullptr;
  std::byte* address = nullptr;  // of the block's first byte
  std::size_t offset = 0;        // of the address asked for; past record->size lies slack

  explicit operator bool() const noexcept { return record != nullptr; }
  ObjectId object() const noexcept {
    return {.owner = record->allocated.task.value,
            .offset = offset,
            .ordinal = record->ordinal,
            .space = ObjectSpace::kHeap};
  }
};

enum class FreeVerdict : std::uint8_t {
  kOk,
  kDoubleFree,      // the start of a block that is free already; find() says by whom
  kInvalidPointer,  // not the start of a block that was handed out
  kWrongFamily,     // of a block that another kind of function allocated; it stays live
  kOverrun,         // of a block behind whose end something was written; it stays live
};

struct ReallocResult {
  void* block;  // null: out of memory, or a bad verdict; the old block is as it was
  FreeVerdict verdict;
};

class SubjectHeap {
 public:
  // Free under every layout that matters: address randomisation on or off (position-independent
  // executables start at 0x5555.. and above), with AddressSanitizer (whose shadow ends at 0x1000..
  // and whose heap is at 0x5000.. or 0x6000.., by version). The genuine ThreadSanitizer keeps its
  // shadow here, and its own heap with it.
  static constexpr std::uintptr_t kAddress = 0x2000'0000'0000;
  static constexpr std::size_t kSliceBytes = kLargestBlock;
  static constexpr std::size_t kRegionBytes = 64 * kSliceBytes;     // reserved, not used
  static constexpr std::size_t kSharedFrom = std::size_t{1} << 20;  // larger: too few to divide
  static constexpr std::byte kPoison{0xDB};
  static constexpr std::byte kGuard{0xA7};
  static constexpr std::size_t kGuardBytes = 16;

  struct Options {
    std::size_t limit_bytes = std::size_t{1} << 30;       // live bytes, as asked for; then null
    std::size_t quarantine_bytes = std::size_t{1} << 18;  // freed bytes, in whole blocks, kept back
    std::size_t poison_bytes = 4096;                      // filled from the start of a freed block
    std::uintptr_t address = kAddress;
    // At least so much lies behind each block. AddressSanitizer's shadow says that it may not be
    // touched; without it, its first kGuardBytes tell who wrote there. 0: neither.
    std::size_t red_zone_bytes = 0;
  };

  SubjectHeap() noexcept : SubjectHeap(Options()) {}
  // ready() is false when the address is taken.
  explicit SubjectHeap(const Options& options) noexcept;
  SubjectHeap(const SubjectHeap&) = delete;
  SubjectHeap& operator=(const SubjectHeap&) = delete;

  bool ready() const noexcept { return !region_.empty(); }

  // Null when the limit or the largest block is exceeded. `alignment` is a power of two. A size of
  // 0 gives a block of its own. Fresh memory is zero; recycled memory is what its last owner left,
  // poison included.
  void* allocate(std::size_t size, std::size_t alignment, const BlockEvent& by,
                 std::uint32_t ordinal,
                 AllocationFamily family = AllocationFamily::kMalloc) noexcept {
    return allocate_block(size, alignment, by, ordinal, false, family);
  }
  // All zero, as calloc gives it.
  void* allocate_zeroed(std::size_t size, const BlockEvent& by, std::uint32_t ordinal) noexcept {
    return allocate_block(size, kSmallestBlock, by, ordinal, true, AllocationFamily::kMalloc);
  }
  // Always moves, so that a pointer kept across it is found; an identity of its own for the new
  // block. `old` is not null.
  ReallocResult reallocate(void* old, std::size_t size, const BlockEvent& by,
                           std::uint32_t ordinal) noexcept;
  FreeVerdict free(void* block, const BlockEvent& by,
                   AllocationFamily family = AllocationFamily::kMalloc) noexcept;
  // The same for whoever must not be stopped: any family, and whatever lies behind the end.
  FreeVerdict free_unchecked(void* block, const BlockEvent& by) noexcept;

  bool owns(const void* address) const noexcept {
    return reinterpret_cast<std::uintptr_t>(address) - base_ < kRegionBytes;
  }
  // The block, live or freed, that `address` points into.
  BlockView find(const void* address) const noexcept;
  // The size requested; 0 for what is not the start of a live block.
  std::size_t usable_size(const void* block) const noexcept;

  // Makes the present state the baseline, once.
  void seal() noexcept;
  /// What reset() puts back, for whoever guards it. After seal().
  SavedMemory& memory() noexcept { return saved_; }
  // Back to the baseline; everything later is forgotten. Costs a comparison of the baseline and a
  // fill of what was used since.
  void reset() noexcept;

  // visit(BlockView) for each live block allocated since the baseline, by class and index.
  template <typename Visitor>
  void leaks(Visitor&& visit) const noexcept {
    for_each_block([&](const BlockView& block) {
      if (block.record->state == BlockState::kLive && !block.record->baseline) visit(block);
    });
  }
  // visit(BlockView) for each live block of the baseline.
  template <typename Visitor>
  void baseline_blocks(Visitor&& visit) const noexcept {
    for (std::uint32_t c = 0; c < kSizeClasses; ++c) {
      for (std::uint32_t i = 0; i < kept_[c]; ++i) {
        const BlockRecord& block = record({c, i});
        if (block.state == BlockState::kLive && block.baseline)
          visit(BlockView{&block, address_of({c, i}), 0});
      }
    }
  }
  // visit(BlockView) for each live block allocated since the baseline behind whose end something
  // was written.
  template <typename Visitor>
  void overrun(Visitor&& visit) const noexcept {
    if (!guarded()) return;
    leaks([&](const BlockView& block) {
      if (!guard_intact(block)) visit(block);
    });
  }
  // visit(BlockView) for each quarantined block in which something was written after its free, as
  // far as it was poisoned.
  template <typename Visitor>
  void overwritten(Visitor&& visit) const noexcept {
    for_each_block([&](const BlockView& block) {
      if (block.record->state == BlockState::kQuarantined && !poison_intact(block)) visit(block);
    });
  }

  std::size_t live_blocks() const noexcept { return state_.live_blocks; }
  std::size_t live_since_baseline() const noexcept { return state_.live_since_baseline; }
  std::size_t live_bytes() const noexcept { return state_.live_bytes; }  // as asked for
  std::size_t quarantined_bytes() const noexcept { return state_.quarantined_bytes; }

 private:
  // A block's number in the whole heap: 26 bits of index, for the smallest class has 2^26 blocks,
  // under 6 bits of class. No class is numbered 63.
  static constexpr std::uint32_t kIndexBits = 26;
  static constexpr std::uint32_t kNoBlock = 0xffffffff;
  static_assert(kSliceBytes / kSmallestBlock == std::size_t{1} << kIndexBits);

  struct BlockNumber {
    std::uint32_t size_class;
    std::uint32_t index;
  };
  static constexpr std::uint32_t pack(BlockNumber block) noexcept {
    return block.size_class << kIndexBits | block.index;
  }
  static constexpr BlockNumber unpack(std::uint32_t number) noexcept {
    return {number >> kIndexBits, number & ((1u << kIndexBits) - 1)};
  }

  // All that changes, apart from records and contents; the baseline is a copy of it.
  struct State {
    struct Class {
      std::uint32_t used = 0;  // blocks ever handed out
      std::uint32_t free_head = kNoBlock;
    };
    std::array<Class, kSizeClasses> classes{};
    std::uint32_t quarantine_head = kNoBlock;  // the oldest
    std::uint32_t quarantine_tail = kNoBlock;
    std::size_t quarantined_bytes = 0;
    std::size_t live_blocks = 0;
    std::size_t live_since_baseline = 0;
    std::size_t live_bytes = 0;
  };

  void* allocate_block(std::size_t size, std::size_t alignment, const BlockEvent& by,
                       std::uint32_t ordinal, bool zeroed, AllocationFamily family) noexcept;
  bool guarded() const noexcept { return !asan::kEnabled && options_.red_zone_bytes != 0; }
  std::size_t guard_bytes(const BlockView& block) const noexcept;
  bool guard_intact(const BlockView& block) const noexcept;
  void quarantine(BlockNumber block) noexcept;
  void release_oldest() noexcept;
  bool poison_intact(const BlockView& block) const noexcept;
  void restore_records() noexcept;
  void restore_shadow() noexcept;
  void forget_contents(std::uint32_t size_class, std::uint32_t first, std::uint32_t end) noexcept;
  bool shadowed() const noexcept { return asan::kEnabled && options_.red_zone_bytes != 0; }
  void shadow_live(BlockNumber block, std::size_t size) noexcept;
  void shadow_freed(BlockNumber block) noexcept;

  std::byte* address_of(BlockNumber block) const noexcept {
    return region_.data() + block.size_class * kSliceBytes +
           std::size_t{block.index} * kBlockBytes[block.size_class];
  }
  BlockRecord& record(BlockNumber block) const noexcept {
    return records_[block.size_class][block.index];
  }

  template <typename Visitor>
  void for_each_block(Visitor&& visit) const noexcept {
    const auto visit_from = [&](std::uint32_t c, std::uint32_t i, std::uint32_t end) {
      for (; i < end; ++i) visit(BlockView{&record({c, i}), address_of({c, i}), 0});
    };
    for (std::uint32_t c = 0; c < kSizeClasses; ++c) {
      visit_from(c, 0, kept_[c]);
      visit_from(c, first_[c], state_.classes[c].used);
    }
  }

  Options options_;
  Mapping region_;
  std::uintptr_t base_ = 0;
  Mapping record_memory_;
  std::array<BlockRecord*, kSizeClasses> records_{};
  State state_;
  State baseline_;
  // Of each class's blocks the baseline has the first kept_; what came later begins at first_.
  std::array<std::uint32_t, kSizeClasses> kept_{};
  std::array<std::uint32_t, kSizeClasses> first_{};
  SavedMemory saved_;     // the contents of the baseline's blocks
  Mapping saved_shadow_;  // of the same, if shadowed()
  Mapping saved_records_;
  bool records_changed_ = false;      // of the baseline's blocks, since the last reset()
  std::uint64_t classes_in_use_ = 0;  // a bit for each class that has given out a block since
  bool sealed_ = false;
};

}  // namespace weft::image
