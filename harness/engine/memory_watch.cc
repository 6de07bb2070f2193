// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/engine/memory_watch.h"

#include <algorithm>
#include <iterator>

#include "harness/base/check.h"
#include "harness/base/text_buffer.h"
#include "harness/engine/execution.h"
#include "harness/engine/unwind.h"

namespace weft::engine {
namespace {

using detect::Access;
using trace::AccessKind;
using trace::FindingAccess;
using trace::FindingKind;

const char* with_article(AccessKind kind) noexcept {
  switch (kind) {
    case AccessKind::kRead: return "a read";
    case AccessKind::kWrite: return "a write";
    case AccessKind::kAtomicRead: return "an atomic read";
    case AccessKind::kAtomicWrite: return "an atomic write";
    case AccessKind::kFree: return "a free";
    case AccessKind::kAllocate: return "an allocation";
  }
  WEFT_UNREACHABLE("an unknown kind of access");
}

bool looks_out(const WorkerConfig& config) noexcept {
  return std::any_of(std::begin(config.look_out), std::end(config.look_out),
                     [](const LookOut& access) { return access.task != kNoTask; });
}

}  // namespace

MemoryWatch::MemoryWatch(Execution& execution) noexcept
    : execution_(execution),
      races_(execution.ordering(), *this, execution.arena()),
      active_(execution.config().detect_races),
      looking_out_(active_ && looks_out(execution.config())) {}

void MemoryWatch::clear() noexcept {
  passed_ = nullptr;
  weak_writes_ = nullptr;
  released_by_fence_ = false;
  weak_pair_ = {};
  warming_up_ =
      execution_.channel().phase.load(std::memory_order_relaxed) == trace::WorkerPhase::kWarmUp;
  known_objects_ = execution_.channel().known_race_count != 0;
  races_.clear(active_ && !looking_out_ && !known_objects_);
}

TaskIndex MemoryWatch::index_of(TaskId id) const noexcept {
  for (std::size_t i = 0; i < execution_.task_count(); ++i) {
    const auto index = static_cast<TaskIndex>(i);
    if (execution_.task(index).id == id) return index;
  }
  return kNoTaskIndex;
}

bool MemoryWatch::is_known(const ObjectId& object) const noexcept {
  const trace::Channel& channel = execution_.channel();
  for (std::uint32_t i = 0; i < channel.known_race_count; ++i) {
    if (channel.known_races[i].object == object) return true;
  }
  return false;
}

detect::Origin MemoryWatch::origin_of(std::uintptr_t address) const noexcept {
  detect::Origin origin;
  asked_ = true;
  if (has_no_origin(address)) return origin;
  if (known_objects_) origin.watched = is_known(execution_.object_of(address));
  HeapBlock block;
  if (!execution_.image().find_block(address, block)) return origin;
  const BlockEvent& event = block.live ? block.allocated : block.freed;
  const TaskIndex by = index_of(event.task);
  if (by == kNoTaskIndex) return origin;
  const AccessKind kind = block.live ? AccessKind::kAllocate : AccessKind::kFree;
  (block.live ? origin.allocated : origin.freed) =
      Access(by, event.operation, kind, block.size, event.pc);
  return origin;
}

void MemoryWatch::examine(Task& self, Access now, std::uintptr_t address,
                          std::size_t size) noexcept {
  // Each task has an errno of its own, wherever that lies.
  if (address == reinterpret_cast<std::uintptr_t>(shared_error_number)) return;
  const InterceptionOff off;
  if (looking_out_) look_out(self, now.what(), size, now.pc);
  detect::Conflict conflict;
  asked_ = false;
  const bool races = races_.touch(address, size, now, conflict);
  // The detector asks about each granule's first access and each that is cut differently.
  if (asked_) check_bounds(self, now, address, size);
  if (races) report(self, now, size, conflict);
}

void MemoryWatch::check_bounds(Task& self, Access now, std::uintptr_t address,
                               std::size_t size) noexcept {
  HeapBlock block;
  if (!in_subject_heap(address) || !execution_.image().find_block(address, block) || !block.live)
    return;
  const std::size_t offset = address - block.begin;
  if (offset + size <= block.size) return;
  describe_mistake(self, now, address, size, block);
  FixedText<256> text;
  text.append("heap overrun: ").append(with_article(now.what())).append(" of ").append_bytes(size);
  text.append(" at offset ").append_uint(offset);
  text.append(" of a block of ").append_uint(block.size);
  execution_.fail_at(self, now.pc, FindingKind::kMemoryError, text.c_str());
}

/// One access, and where its block comes from.
void MemoryWatch::describe_mistake(Task& self, Access now, std::uintptr_t address, std::size_t size,
                                   const HeapBlock& block) noexcept {
  trace::Finding& finding = execution_.channel().finding;
  finding.object = execution_.object_of(address);
  finding.access_count = 1;
  describe(now, size, finding.accesses[0]);
  execution_.describe_locks(self, finding.accesses[0].held, finding.accesses[0].held_count);
  describe_block(block, now);
}

void MemoryWatch::sanitizer_found(Task& self, AccessKind kind, std::uintptr_t address,
                                  std::size_t size, std::uintptr_t pc,
                                  const char* message) noexcept {
  const InterceptionOff off;
  const Access now(self.index, self.operation_index, kind, size, pc);
  trace::Finding& finding = execution_.channel().finding;
  finding.object = execution_.object_of(address);
  finding.access_count = 1;
  describe(now, size, finding.accesses[0]);
  execution_.describe_locks(self, finding.accesses[0].held, finding.accesses[0].held_count);
  HeapBlock block;
  if (execution_.image().find_block(address, block)) {
    const TaskIndex freer = block.live ? kNoTaskIndex : index_of(block.freed.task);
    if (freer != kNoTaskIndex) {
      const Access freed(freer, block.freed.operation, AccessKind::kFree, block.size,
                         block.freed.pc);
      describe(freed, block.size, finding.accesses[finding.access_count++]);
    }
    describe_block(block, now);
  }
  execution_.fail_at(self, pc, FindingKind::kMemoryError, message);
}

HeapBlock MemoryWatch::describe_bad_free(Task& self, std::uintptr_t pointer,
                                         std::uintptr_t pc) noexcept {
  HeapBlock block;
  WEFT_CHECK(execution_.image().find_block(pointer, block), "a block that is freed is unknown");
  const Access now(self.index, self.operation_index, AccessKind::kFree, block.size, pc);
  describe_mistake(self, now, pointer, block.size, block);
  return block;
}

void MemoryWatch::wrong_free(Task& self, std::uintptr_t pointer, std::uintptr_t pc,
                             AllocationFamily family) noexcept {
  const InterceptionOff off;
  const HeapBlock block = describe_bad_free(self, pointer, pc);
  FixedText<256> text;
  text.append(freeing_function(family)).append(" of a block of ").append_bytes(block.size);
  text.append(" that ").append(allocating_function(block.family)).append(" allocated: ");
  text.append(freeing_function(block.family)).append(" is what frees it");
  execution_.fail_at(self, pc, FindingKind::kInvalidFree, text.c_str());
}

void MemoryWatch::overrun_found(Task& self, std::uintptr_t pointer, std::uintptr_t pc) noexcept {
  const InterceptionOff off;
  const HeapBlock block = describe_bad_free(self, pointer, pc);
  FixedText<256> text;
  text.append("heap overrun: something wrote behind the end of a block of ");
  text.append_bytes(block.size).append(" before this free");
  execution_.fail_at(self, pc, FindingKind::kMemoryError, text.c_str());
}

void MemoryWatch::freed(Task& self, std::uintptr_t block, std::uintptr_t pc) noexcept {
  if (!active_) return;
  const InterceptionOff off;
  HeapBlock view;
  if (!execution_.image().find_block(block, view) || !view.live || view.begin != block) return;
  const Access now(self.index, self.operation_index, AccessKind::kFree, view.size, pc);
  if (looking_out_) look_out(self, AccessKind::kFree, view.size, pc);
  detect::Conflict conflict;
  if (races_.release(block, view.size, now, conflict, execution_.ordering()) &&
      self.accesses_ignored == 0)
    report(self, now, view.size, conflict);
}

void MemoryWatch::look_out(Task& self, AccessKind kind, std::size_t size,
                           std::uintptr_t pc) noexcept {
  const auto& wanted = execution_.config().look_out;
  for (std::size_t i = 0; i < std::size(wanted); ++i) {
    if (wanted[i].operation != self.operation_index || wanted[i].task != self.id ||
        wanted[i].kind != kind)
      continue;
    FindingAccess& seen = execution_.channel().seen[i];
    seen.task = self.index;
    seen.kind = kind;
    seen.size = size;
    seen.operation_index = self.operation_index;
    execution_.describe_locks(self, seen.held, seen.held_count);
    execution_.describe_own_stack(pc, seen.stack);
  }
}

/// The same for the same variable in any execution, as far as that can be known.
std::uint64_t MemoryWatch::place_of(std::uintptr_t address) const noexcept {
  const ProcessImage& image = execution_.image();
  HeapBlock block;
  if (image.find_block(address, block)) {
    return fold(fold(1, image.site_of(block.allocated.pc - 1).offset), address - block.begin);
  }
  const ObjectId object = execution_.object_of(address);
  return object.space == ObjectSpace::kModule ? object.hash() : 0;
}

std::uint64_t MemoryWatch::identity_of(Access now, const Access& earlier,
                                       std::uint64_t place_in_memory) const noexcept {
  const ProcessImage& image = execution_.image();
  const auto place = [&](const Access& access) {
    const Site site = image.site_of(access.pc - 1);
    return fold(fold(access.kind, site.module), site.offset);
  };
  // Which of the two came first is the schedule's.
  return fold(fold(1, place(now) + place(earlier)), place_in_memory);
}

bool MemoryWatch::passes_over(Task& self, std::uint64_t identity) noexcept {
  for (const Passed* passed = passed_; passed != nullptr; passed = passed->next) {
    if (passed->identity == identity) return true;
  }
  if (!execution_.passes_over(self, identity)) return false;
  auto* const passed = execution_.arena().make<Passed>();
  *passed = {identity, passed_};
  passed_ = passed;
  return true;
}

void MemoryWatch::describe(const Access& access, std::size_t size,
                           FindingAccess& row) const noexcept {
  row = FindingAccess{};
  row.task = access.by();
  row.kind = access.what();
  row.size = size;
  row.operation_index = access.operation;
  row.stack.count = 1;
  row.stack.frames[0] = execution_.image().site_of(access.pc - 1);
}

/// Where the block comes from, unless that is one of the two accesses itself.
void MemoryWatch::describe_block(const HeapBlock& block, const Access& earlier) noexcept {
  const TaskIndex owner = index_of(block.allocated.task);
  if (owner == kNoTaskIndex || earlier.what() == AccessKind::kAllocate) return;
  trace::Finding& finding = execution_.channel().finding;
  describe(Access(owner, block.allocated.operation, AccessKind::kAllocate, block.size,
                  block.allocated.pc),
           block.size, finding.accesses[finding.access_count++]);
}

void MemoryWatch::bad_free(Task& self, FindingKind kind, std::uintptr_t pointer,
                           std::uintptr_t pc) noexcept {
  const InterceptionOff off;
  trace::Finding& finding = execution_.channel().finding;
  finding.object = execution_.object_of(pointer);
  finding.access_count = 1;
  HeapBlock block;
  const bool known =
      kind == FindingKind::kDoubleFree && execution_.image().find_block(pointer, block);
  describe(Access(self.index, self.operation_index, AccessKind::kFree, block.size, pc), block.size,
           finding.accesses[0]);
  execution_.describe_locks(self, finding.accesses[0].held, finding.accesses[0].held_count);
  const TaskIndex first = known ? index_of(block.freed.task) : kNoTaskIndex;
  if (first != kNoTaskIndex) {
    const Access earlier(first, block.freed.operation, AccessKind::kFree, block.size,
                         block.freed.pc);
    describe(earlier, block.size, finding.accesses[finding.access_count++]);
    describe_block(block, earlier);
  }
  FixedText<256> text;
  if (known) {
    text.append("double free of a block of ").append_bytes(block.size);
  } else {
    text.append("free of a pointer that malloc never returned");
  }
  execution_.fail_at(self, pc, kind, text.c_str());
}

void MemoryWatch::report(Task& self, Access now, std::size_t size,
                         const detect::Conflict& conflict) noexcept {
  const Access& earlier = conflict.earlier;
  const bool after_free = earlier.what() == AccessKind::kFree;
  const std::uint64_t place = place_of(conflict.address);
  const std::uint64_t identity = after_free ? 0 : identity_of(now, earlier, place);
  // The warm-up does not know which races are to be passed over; execution 1 does. A use of freed
  // memory cannot wait: what was read may crash the process before that.
  if (!after_free && (warming_up_ || passes_over(self, identity))) return;

  trace::Finding& finding = execution_.channel().finding;
  finding.identity = identity;
  finding.place = place;
  finding.object = execution_.object_of(conflict.address);
  finding.access_count = 2;
  describe(now, size, finding.accesses[0]);
  execution_.describe_locks(self, finding.accesses[0].held, finding.accesses[0].held_count);
  HeapBlock block;
  const bool on_heap = execution_.image().find_block(conflict.address, block);
  describe(earlier, after_free && on_heap ? block.size : std::size_t{earlier.size},
           finding.accesses[1]);
  if (on_heap) describe_block(block, earlier);
  if (looking_out_ && !after_free) finding.weak_pair = weak_pair_;

  FixedText<256> text;
  text.append(after_free ? "use after free: " : "data race: ").append(with_article(now.what()));
  if (now.what() != AccessKind::kFree) text.append(" of ").append_bytes(size);
  if (after_free) {
    text.append(" in a freed block of ").append_bytes(block.size);
  } else {
    text.append(" and an earlier ").append(trace::name(earlier.what()));
    text.append(", which nothing puts in order");
  }
  execution_.fail_at(self, now.pc, after_free ? FindingKind::kUseAfterFree : FindingKind::kDataRace,
                     text.c_str());
}

}  // namespace weft::engine
