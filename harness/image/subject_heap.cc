// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/image/subject_heap.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <bit>

#include "harness/base/check.h"
#include "harness/base/system_call.h"
#include "harness/image/raw_memory.h"

namespace weft::image {
namespace {

// From this block size on, reset() returns pages to the kernel instead of clearing them: a program
// that asks for much and touches little would pay for what it never touched. Below, clearing is
// cheaper than a page fault per page in the next execution (0.1 us against 0.5 us).
constexpr std::size_t kDiscardFrom = 65536;

static_assert(kDiscardFrom / asan::kGranule % kPageBytes == 0);

void discard(void* begin, std::size_t bytes) noexcept {
  const long result = system_call(SYS_madvise, begin, bytes, MADV_DONTNEED);
  WEFT_CHECK(!is_error(result), "madvise refused: the subject changed the heap's mapping");
}

constexpr std::uint32_t blocks_in_slice(std::uint32_t size_class) noexcept {
  return static_cast<std::uint32_t>(SubjectHeap::kSliceBytes / kBlockBytes[size_class]);
}

}  // namespace

SubjectHeap::SubjectHeap(const Options& options) noexcept
    : options_(options),
      region_(Mapping::at(reinterpret_cast<void*>(options.address), kRegionBytes)) {
  WEFT_CHECK(options.address % kSliceBytes == 0,
             "aligned blocks need a region aligned to its slices");
  if (region_.empty()) return;
  base_ = options.address;
  // Huge pages would turn the first block of each class into 2 MiB to clear.
  system_call(SYS_madvise, region_.data(), region_.size(), MADV_NOHUGEPAGE);
  std::size_t records = 0;
  for (std::uint32_t c = 0; c < kSizeClasses; ++c) records += blocks_in_slice(c);
  record_memory_ = Mapping(records * sizeof(BlockRecord));  // 14 GiB reserved, touched as used
  system_call(SYS_madvise, record_memory_.data(), record_memory_.size(), MADV_NOHUGEPAGE);
  auto* next = reinterpret_cast<BlockRecord*>(record_memory_.data());
  for (std::uint32_t c = 0; c < kSizeClasses; ++c) {
    records_[c] = next;
    next += blocks_in_slice(c);
  }
}

void* SubjectHeap::allocate_block(std::size_t size, std::size_t alignment, const BlockEvent& by,
                                  std::uint32_t ordinal, bool zeroed,
                                  AllocationFamily family) noexcept {
  WEFT_CHECK(ready(), "the subject heap's address was taken, and it is used all the same");
  WEFT_CHECK(std::has_single_bit(alignment), "an alignment that is no power of two");
  if (size > kLargestBlock) return nullptr;
  const std::size_t wanted = std::max({size + options_.red_zone_bytes, alignment, kSmallestBlock});
  if (wanted > kLargestBlock) return nullptr;
  std::uint32_t size_class = size_class_of(wanted);
  // Slices are aligned to 1 GiB, so a block is aligned when its size is a multiple of the
  // alignment. The next power of two is at most three classes up.
  while (kBlockBytes[size_class] % alignment != 0) ++size_class;

  if (size > options_.limit_bytes - std::min(state_.live_bytes, options_.limit_bytes))
    return nullptr;
  State::Class& blocks = state_.classes[size_class];
  BlockNumber number{size_class, 0};
  bool fresh = false;
  if (blocks.free_head != kNoBlock) {
    number = unpack(blocks.free_head);
    blocks.free_head = record(number).next;
  } else if (blocks.used < blocks_in_slice(size_class)) {
    number.index = blocks.used++;
    fresh = true;
  } else {
    return nullptr;
  }
  classes_in_use_ |= std::uint64_t{1} << size_class;
  state_.live_blocks += 1;
  if (sealed_) state_.live_since_baseline += 1;
  state_.live_bytes += size;
  record(number) = {.allocated = by,
                    .freed = {},
                    .size = static_cast<std::uint32_t>(size),
                    .ordinal = ordinal,
                    .next = kNoBlock,
                    .state = BlockState::kLive,
                    .baseline = false,
                    .family = family};
  if (shadowed()) shadow_live(number, size);
  std::byte* const block = address_of(number);
  if (zeroed && !fresh) raw_fill(block, 0, size);
  if (guarded()) {
    const BlockView view{&record(number), block, 0};
    raw_fill(block + size, static_cast<unsigned char>(kGuard), guard_bytes(view));
  }
  return block;
}

std::size_t SubjectHeap::guard_bytes(const BlockView& block) const noexcept {
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(block.address) - base_;
  return std::min<std::size_t>(kBlockBytes[offset / kSliceBytes] - block.record->size, kGuardBytes);
}

bool SubjectHeap::guard_intact(const BlockView& block) const noexcept {
  const std::byte* at = block.address + block.record->size;
  const std::byte* const end = at + guard_bytes(block);
  // By words, for every free comes here: most sizes are multiples of eight, and so is the guard.
  constexpr auto kWord = ~std::uint64_t{0} / 0xff * static_cast<std::uint64_t>(kGuard);
  for (; end - at >= 8; at += 8) {
    std::uint64_t word;
    __builtin_memcpy(&word, at, sizeof word);
    if (word != kWord) return false;
  }
  return std::all_of(at, end, [](std::byte value) { return value == kGuard; });
}

ReallocResult SubjectHeap::reallocate(void* old, std::size_t size, const BlockEvent& by,
                                      std::uint32_t ordinal) noexcept {
  const BlockView view = find(old);
  if (!view || view.offset != 0) return {nullptr, FreeVerdict::kInvalidPointer};
  if (view.record->state != BlockState::kLive) return {nullptr, FreeVerdict::kDoubleFree};
  void* const moved = allocate(size, kSmallestBlock, by, ordinal);
  if (moved == nullptr) return {nullptr, FreeVerdict::kOk};
  raw_copy(moved, old, std::min<std::size_t>(view.record->size, size));
  return {moved, free(old, by, view.record->family)};
}

FreeVerdict SubjectHeap::free(void* block, const BlockEvent& by, AllocationFamily family) noexcept {
  const BlockView view = find(block);
  if (view && view.offset == 0 && view.record->state == BlockState::kLive) {
    if (view.record->family != family) return FreeVerdict::kWrongFamily;
    if (guarded() && !guard_intact(view)) return FreeVerdict::kOverrun;
  }
  return free_unchecked(block, by);
}

FreeVerdict SubjectHeap::free_unchecked(void* block, const BlockEvent& by) noexcept {
  const BlockView view = find(block);
  if (!view || view.offset != 0) return FreeVerdict::kInvalidPointer;
  if (view.record->state != BlockState::kLive) return FreeVerdict::kDoubleFree;
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(block) - base_;
  const auto size_class = static_cast<std::uint32_t>(offset / kSliceBytes);
  const BlockNumber number{size_class, kBlockDividers[size_class].quotient(
                                           static_cast<std::uint32_t>(offset % kSliceBytes))};
  record(number).freed = by;
  if (view.record->baseline) records_changed_ = true;
  if (shadowed()) shadow_freed(number);
  raw_fill(block, static_cast<unsigned char>(kPoison),
           std::min<std::size_t>(kBlockBytes[size_class], options_.poison_bytes));
  state_.live_blocks -= 1;
  if (sealed_ && !view.record->baseline) state_.live_since_baseline -= 1;
  state_.live_bytes -= view.record->size;
  quarantine(number);
  return FreeVerdict::kOk;
}

void SubjectHeap::quarantine(BlockNumber block) noexcept {
  BlockRecord& added = record(block);
  added.state = BlockState::kQuarantined;
  added.next = kNoBlock;
  const std::uint32_t number = pack(block);
  if (state_.quarantine_tail == kNoBlock) {
    state_.quarantine_head = number;
  } else {
    record(unpack(state_.quarantine_tail)).next = number;
  }
  state_.quarantine_tail = number;
  state_.quarantined_bytes += kBlockBytes[block.size_class];
  while (state_.quarantined_bytes > options_.quarantine_bytes) release_oldest();
}

void SubjectHeap::release_oldest() noexcept {
  const std::uint32_t number = state_.quarantine_head;
  const BlockNumber oldest = unpack(number);
  BlockRecord& released = record(oldest);
  state_.quarantine_head = released.next;
  if (state_.quarantine_head == kNoBlock) state_.quarantine_tail = kNoBlock;
  state_.quarantined_bytes -= kBlockBytes[oldest.size_class];
  released.state = BlockState::kFree;
  // Where it is depends on the baseline: nobody gets it again.
  if (oldest.index < kept_[oldest.size_class]) return;
  State::Class& blocks = state_.classes[oldest.size_class];
  released.next = blocks.free_head;
  blocks.free_head = number;
}

BlockView SubjectHeap::find(const void* address) const noexcept {
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(address) - base_;
  if (offset >= kSizeClasses * kSliceBytes || !ready()) return {};
  const auto size_class = static_cast<std::uint32_t>(offset / kSliceBytes);
  const auto in_slice = static_cast<std::uint32_t>(offset % kSliceBytes);
  const std::uint32_t index = kBlockDividers[size_class].quotient(in_slice);
  if (index >= state_.classes[size_class].used) return {};
  if (index >= kept_[size_class] && index < first_[size_class]) return {};
  return {&record({size_class, index}), address_of({size_class, index}),
          in_slice - std::size_t{index} * kBlockBytes[size_class]};
}

std::size_t SubjectHeap::usable_size(const void* block) const noexcept {
  const BlockView view = find(block);
  return view && view.offset == 0 && view.record->state == BlockState::kLive ? view.record->size
                                                                             : 0;
}

bool SubjectHeap::poison_intact(const BlockView& block) const noexcept {
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(block.address) - base_;
  const std::size_t poisoned =
      std::min<std::size_t>(kBlockBytes[offset / kSliceBytes], options_.poison_bytes);
  return std::all_of(block.address, block.address + poisoned,
                     [](std::byte value) { return value == kPoison; });
}

void SubjectHeap::shadow_live(BlockNumber block, std::size_t size) noexcept {
  constexpr auto kRedZone = static_cast<unsigned char>(asan::Poison::kHeapRedZone);
  unsigned char* const shadow = asan::shadow_of(address_of(block));
  const std::size_t whole = size / asan::kGranule;
  raw_fill(shadow, 0, whole);
  raw_fill(shadow + whole, kRedZone, kBlockBytes[block.size_class] / asan::kGranule - whole);
  if (size % asan::kGranule != 0) shadow[whole] = size % asan::kGranule;
  // Before any other block lies its neighbour's red zone; before the first, the end of a slice,
  // which is not reached: one slice of blocks is all that the largest limit allows.
  const std::size_t before = options_.red_zone_bytes / asan::kGranule;
  if (block.index == 0) raw_fill(shadow - before, kRedZone, before);
}

void SubjectHeap::shadow_freed(BlockNumber block) noexcept {
  raw_fill(asan::shadow_of(address_of(block)), static_cast<unsigned char>(asan::Poison::kHeapFreed),
           kBlockBytes[block.size_class] / asan::kGranule);
}

void SubjectHeap::seal() noexcept {
  WEFT_CHECK(!sealed_, "the subject heap's baseline is taken twice");
  std::size_t shadow_total = 0;
  std::size_t record_count = 0;
  for (std::uint32_t c = 0; c < kSizeClasses; ++c) {
    auto* const begin = reinterpret_cast<char*>(address_of({c, 0}));
    const std::size_t bytes = std::size_t{state_.classes[c].used} * kBlockBytes[c];
    saved_.add(begin, begin + bytes);
    shadow_total += bytes / asan::kGranule;
    record_count += state_.classes[c].used;
    for (std::uint32_t i = 0; i < state_.classes[c].used; ++i) {
      BlockRecord& block = record({c, i});
      block.baseline = block.state == BlockState::kLive;
      if (!block.baseline) block.state = BlockState::kFree;
    }
  }
  saved_.take();
  saved_records_ = Mapping(record_count * sizeof(BlockRecord));
  if (shadowed()) saved_shadow_ = Mapping(shadow_total);
  std::byte* shadow = saved_shadow_.data();
  std::byte* records = saved_records_.data();
  for (std::uint32_t c = 0; c < kSizeClasses; ++c) {
    const std::size_t used = state_.classes[c].used;
    raw_copy(records, records_[c], used * sizeof(BlockRecord));
    records += used * sizeof(BlockRecord);
    if (!shadowed()) continue;
    const std::size_t shadow_bytes = used * kBlockBytes[c] / asan::kGranule;
    raw_copy(shadow, asan::shadow_of(address_of({c, 0})), shadow_bytes);
    shadow += shadow_bytes;
  }
  state_.quarantine_head = state_.quarantine_tail = kNoBlock;
  state_.quarantined_bytes = 0;
  for (std::uint32_t c = 0; c < kSizeClasses; ++c) {
    State::Class& blocks = state_.classes[c];
    kept_[c] = blocks.used;
    first_[c] = std::max(kept_[c], kBlockBytes[c] > kSharedFrom ? 0 : blocks_in_slice(c) / 2);
    blocks = {.used = first_[c], .free_head = kNoBlock};
  }
  baseline_ = state_;
  classes_in_use_ = 0;
  sealed_ = true;
}

void SubjectHeap::reset() noexcept {
  if (sealed_) saved_.restore();
  if (records_changed_) restore_records();
  if (shadowed()) restore_shadow();
  // Records past the baseline need no clearing: allocate_block writes all of a record.
  for (std::uint64_t bits = classes_in_use_; bits != 0; bits &= bits - 1) {
    const auto c = static_cast<std::uint32_t>(std::countr_zero(bits));
    forget_contents(c, first_[c], state_.classes[c].used);
  }
  classes_in_use_ = 0;
  state_ = baseline_;
}

void SubjectHeap::restore_records() noexcept {
  const std::byte* records = saved_records_.data();
  for (std::uint32_t c = 0; c < kSizeClasses; ++c) {
    restore_changed(records_[c], records, kept_[c] * sizeof(BlockRecord));
    records += kept_[c] * sizeof(BlockRecord);
  }
  records_changed_ = false;
}

void SubjectHeap::restore_shadow() noexcept {
  const std::byte* shadow = saved_shadow_.data();
  for (std::uint32_t c = 0; c < kSizeClasses; ++c) {
    const std::size_t bytes = std::size_t{kept_[c]} * kBlockBytes[c] / asan::kGranule;
    restore_changed(asan::shadow_of(address_of({c, 0})), shadow, bytes);
    shadow += bytes;
  }
}

void SubjectHeap::forget_contents(std::uint32_t size_class, std::uint32_t first,
                                  std::uint32_t end) noexcept {
  std::byte* const begin = address_of({size_class, first});
  const std::size_t bytes = std::size_t{end - first} * kBlockBytes[size_class];
  if (kBlockBytes[size_class] < kDiscardFrom) {
    raw_fill(begin, 0, bytes);
    if (shadowed()) raw_fill(asan::shadow_of(begin), 0, bytes / asan::kGranule);
    return;
  }
  // Such blocks are whole pages, and so are their shadows.
  discard(begin, bytes);
  if (shadowed()) discard(asan::shadow_of(begin), bytes / asan::kGranule);
}

}  // namespace weft::image
