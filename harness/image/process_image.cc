// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The engine's view of image/: one object that owns the heap, the snapshot and the names.
#include "harness/engine/process_image.h"

#include <cstring>

#include "harness/base/address_sanitizer.h"
#include "harness/base/check.h"
#include "harness/base/fake_stack.h"
#include "harness/base/immortal.h"
#include "harness/base/libfuzzer.h"
#include "harness/engine/task.h"
#include "harness/image/fuzzer_memory.h"
#include "harness/image/leak_search.h"
#include "harness/image/libc_state.h"
#include "harness/image/modules.h"
#include "harness/image/saved_memory.h"
#include "harness/image/segments.h"
#include "harness/image/subject_heap.h"
#include "harness/image/system_call_trap.h"
#include "harness/image/thread_image.h"
#include "harness/image/uninstrumented.h"

namespace weft::image {
namespace {

static_assert(engine::kSubjectHeapBegin == SubjectHeap::kAddress);
static_assert(engine::kSubjectHeapEnd == SubjectHeap::kAddress + SubjectHeap::kRegionBytes);

// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" void* __libc_stack_end;  // the dynamic loader's: the top of the main thread's stack

/// The process's one subject heap, made at the first allocation. The slot is
/// written before any snapshot.
SubjectHeap& process_heap() noexcept {
  static SubjectHeap* heap = nullptr;  // zero-initialised: malloc comes before every constructor
  if (heap == nullptr) {
    asan::initialise();
    SubjectHeap::Options options;
    // As much as AddressSanitizer's own heap has at least; without it, what lies behind a block
    // must not be another one's.
    options.red_zone_bytes = asan::kEnabled ? 16 : 1;
    heap = &make_immortal<SubjectHeap>(options);
  }
  return *heap;
}

engine::FreeVerdict to_engine(FreeVerdict verdict) noexcept {
  switch (verdict) {
    case FreeVerdict::kOk: return engine::FreeVerdict::kFreed;
    case FreeVerdict::kDoubleFree: return engine::FreeVerdict::kDoubleFree;
    case FreeVerdict::kInvalidPointer: return engine::FreeVerdict::kInvalid;
    case FreeVerdict::kWrongFamily: return engine::FreeVerdict::kWrongFamily;
    case FreeVerdict::kOverrun: return engine::FreeVerdict::kOverrun;
  }
  WEFT_UNREACHABLE("an unknown verdict");
}

BlockEvent from_engine(const engine::BlockEvent& event) noexcept {
  return {event.task, event.operation, reinterpret_cast<const void*>(event.pc)};
}

engine::BlockEvent to_engine(const BlockEvent& event) noexcept {
  return {event.task, event.step, reinterpret_cast<std::uintptr_t>(event.site)};
}

engine::HeapBlock describe(const BlockView& block) noexcept {
  return {.begin = reinterpret_cast<std::uintptr_t>(block.address),
          .size = block.record->size,
          .allocated = to_engine(block.record->allocated),
          .freed = to_engine(block.record->freed),
          .ordinal = block.record->ordinal,
          .family = block.record->family,
          .live = block.record->state == BlockState::kLive};
}

class Image final : public engine::ProcessImage {
 public:
  Image() noexcept : heap_(process_heap()) {
    WEFT_CHECK(heap_.ready(), "the subject heap's address is taken: is another harness loaded?");
    modules_.refresh();
    threads_.capture();
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the pointer itself is left out
    threads_.exclude(&engine::current_task, sizeof engine::current_task);
    threads_.exclude(&engine::HarnessAllocations::counter(), sizeof(int));
  }

  void snapshot(std::uintptr_t stack_low) noexcept override {
    if (has_libfuzzer()) leave_fuzzer_alone();
    libc_state_.take(rest_);
    segments_.snapshot();
    heap_.seal();
    if (stack_low != 0) add_stack(reinterpret_cast<char*>(stack_low));
    rest_.take();
  }

  void restore() noexcept override {
    segments_.restore();
    rest_.restore();
    libc_state_.restore();
    heap_.reset();
    if (lifted_ && lifts_ < kMostLifts) guard_memory();
  }

  void guard() noexcept override {
    // AddressSanitizer's own code writes to the subject's memory and its shadow as it pleases.
    if (!asan::kEnabled && trap_.prepare()) guard_memory();
  }

  void subject_starts() noexcept override {
    if (guarding_) trap_.arm();
  }

  void subject_stopped() noexcept override {
    silent_ = guarding_;
    trap_.disarm();
  }

  bool may_have_called_system() const noexcept override { return !silent_; }

  bool absorbs(int signal, const siginfo_t& info, void* context) noexcept override {
    if (!guarding_) return false;
    if (trap_.sprang(signal, info, context)) {
      lift();
      return true;
    }
    if (signal != SIGSEGV || info.si_code != SEGV_ACCERR) return false;
    const bool armed = trap_.armed();
    trap_.disarm();  // our own system calls
    const auto address = reinterpret_cast<std::uintptr_t>(info.si_addr);
    bool was_guarded = false;
    for_each_memory([&](SavedMemory& memory) { was_guarded |= memory.written(address); });
    if (armed) trap_.arm();
    return was_guarded;
  }

  void reset_thread_locals() noexcept override { threads_.reset_calling_thread(); }

  void* allocate(const engine::BlockEvent& by, std::uint64_t ordinal, std::size_t bytes,
                 std::size_t alignment, AllocationFamily family) noexcept override {
    return heap_.allocate(bytes, alignment, from_engine(by), static_cast<std::uint32_t>(ordinal),
                          family);
  }

  engine::FreeVerdict release(void* pointer, const engine::BlockEvent& by,
                              AllocationFamily family) noexcept override {
    return to_engine(heap_.free(pointer, from_engine(by), family));
  }

  bool find_overrun(engine::HeapBlock& first) const noexcept override {
    if (heap_.live_since_baseline() == 0) return false;
    bool found = false;
    heap_.overrun([&](const BlockView& block) {
      if (!found) first = describe(block);
      found = true;
    });
    return found;
  }

  std::size_t find_leaks(engine::HeapBlock& first,
                         std::span<const std::byte> ours) const noexcept override {
    if (heap_.live_since_baseline() == 0 || !segments_.taken()) return 0;
    LeakSearch search(heap_);
    segments_.for_each_range([&](const char* begin, const char* end) { search.scan(begin, end); });
    rest_.for_each_range([&](const char* begin, const char* end) { search.scan(begin, end); });
    const char* const begin = reinterpret_cast<const char*>(ours.data());
    search.scan(begin, begin + ours.size());
    std::size_t count = 0;
    search.for_each_leak([&](const BlockView& block) {
      if (count++ == 0) first = describe(block);
    });
    return count;
  }

  bool find_block(std::uintptr_t address, engine::HeapBlock& block) const noexcept override {
    const auto* const pointer = reinterpret_cast<const void*>(address);
    if (!heap_.owns(pointer)) return false;
    const BlockView view = heap_.find(pointer);
    if (!view) return false;
    block = describe(view);
    return true;
  }

  void modules_changed() noexcept override { modules_.refresh(); }

  bool is_restored(std::uintptr_t pc) const noexcept override {
    bool restored = false;
    for_each_module([&](const LoadedModule& module) {
      if (module.contains(reinterpret_cast<const void*>(pc))) restored = belongs_to_subject(module);
    });
    return restored;
  }

  Site site_of(std::uintptr_t pc) const noexcept override {
    return modules_.site(reinterpret_cast<const void*>(pc));
  }

  bool find_uninstrumented(std::span<const std::uintptr_t> frames,
                           engine::UninstrumentedCode& code) const noexcept override {
    return image::find_uninstrumented(frames, code);
  }

  bool find_module(std::uintptr_t address, std::uint64_t& id,
                   std::uint64_t& offset) const noexcept override {
    const Location at = modules_.locate(reinterpret_cast<const void*>(address));
    if (!at) return false;
    id = modules_.id(at.module);
    offset = at.offset;
    return true;
  }

  std::size_t module_count() const noexcept override { return modules_.size(); }

  void describe_module(std::size_t index, std::uintptr_t& base, std::uint64_t& id, char* path,
                       std::size_t capacity) const noexcept override {
    const auto module = static_cast<std::uint32_t>(index);
    base = modules_.load_address(module);
    id = modules_.id(module);
    const std::string_view name = modules_.path(module);
    const std::size_t length = name.size() < capacity ? name.size() : capacity - 1;
    std::memcpy(path, name.data(), length);
    path[length] = '\0';
  }

 private:
  // System calls may write anywhere, so the guards are down from the first in an execution to its
  // end. A program that goes on making some is better off without.
  static constexpr unsigned kMostLifts = 16;

  void add_stack(char* low) noexcept {
    rest_.add(low, static_cast<char*>(__libc_stack_end));
    asan::for_each_fake_frame(
        [](char* begin, char* end, void* stack) {
          static_cast<SavedMemory*>(stack)->add(begin, end);
        },
        &rest_);
  }

  void leave_fuzzer_alone() noexcept {
    for_each_module([&](const LoadedModule& module) {
      if (!belongs_to_subject(module)) return;
      const bool found = find_fuzzer_memory(
          module,
          [](const char* begin, const char* end, void* segments) {
            static_cast<SegmentImage*>(segments)->exclude(begin, end);
          },
          &segments_);
      WEFT_CHECK(found,
                 "this program is stripped: libFuzzer's variables cannot be told from yours");
    });
  }

  template <typename Visitor>
  void for_each_memory(Visitor&& visit) noexcept {
    visit(segments_.memory());
    visit(heap_.memory());
    visit(rest_);
  }

  void guard_memory() noexcept {
    for_each_memory([](SavedMemory& memory) { memory.guard(); });
    guarding_ = true;
    lifted_ = false;
  }

  void lift() noexcept {
    for_each_memory([](SavedMemory& memory) { memory.lift(); });
    guarding_ = false;
    lifted_ = true;
    ++lifts_;
  }

  SubjectHeap& heap_;
  ModuleTable modules_;
  SegmentImage segments_;
  ThreadImage threads_;
  SavedMemory rest_;  // the stack, and the environment
  LibcState libc_state_;
  SystemCallTrap trap_;
  bool guarding_ = false;
  bool lifted_ = false;  // by a system call of this execution
  bool silent_ = false;  // the latest execution made no system call
  unsigned lifts_ = 0;
};

}  // namespace
}  // namespace weft::image

namespace weft::engine {

ProcessImage& make_process_image() noexcept {
  // In a mapping of its own: the executable's segments are restored, this must not be.
  return make_immortal<image::Image>();
}

void* allocate_baseline(std::size_t bytes, std::size_t alignment, std::uintptr_t pc,
                        AllocationFamily family) noexcept {
  image::SubjectHeap& heap = image::process_heap();
  if (!heap.ready()) return nullptr;
  // Blocks of the baseline belong to no task; their number in the heap tells them apart.
  return heap.allocate(bytes, alignment, {kNoTask, 0, reinterpret_cast<const void*>(pc)},
                       static_cast<std::uint32_t>(heap.live_blocks()), family);
}

FreeVerdict release_baseline(void* pointer) noexcept {
  return image::to_engine(image::process_heap().free_unchecked(pointer, {}));
}

std::size_t block_size(const void* pointer) noexcept {
  return image::process_heap().usable_size(pointer);
}

constinit thread_local int HarnessAllocations::depth = 0;

}  // namespace weft::engine
