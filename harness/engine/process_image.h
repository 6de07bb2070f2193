// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The state of the process as the engine needs it: the subject's heap, the
// snapshot from which every execution starts, and names for addresses. The
// image/ folder implements it.
#pragma once

#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "harness/base/allocation_family.h"
#include "harness/base/ids.h"

namespace weft::engine {

/// Where the subject's heap lies, in every process; free() routes by it. Chosen in
/// image/subject_heap.h, which also checks that the two agree.
inline constexpr std::uintptr_t kSubjectHeapBegin = 0x2000'0000'0000;
inline constexpr std::uintptr_t kSubjectHeapEnd = 0x2010'0000'0000;

[[nodiscard]] inline bool in_subject_heap(std::uintptr_t address) noexcept {
  return address - kSubjectHeapBegin < kSubjectHeapEnd - kSubjectHeapBegin;
}
[[nodiscard]] inline bool in_subject_heap(const void* pointer) noexcept {
  return in_subject_heap(reinterpret_cast<std::uintptr_t>(pointer));
}

/// Code that the engine cannot see into.
struct UninstrumentedCode {
  const char* file = "";      // the library's, without its directory
  const char* function = "";  // the innermost that the library exports, mangled; may be empty
};

/// Verdict on a pointer that the subject frees; kWrongFamily: with the wrong function; kOverrun:
/// something was written behind the block's end. Only kFreed frees.
enum class FreeVerdict : std::uint8_t { kFreed, kDoubleFree, kInvalid, kWrongFamily, kOverrun };

/// Who did something to a heap block; kNoTask where no task did.
struct BlockEvent {
  TaskId task;
  std::uint64_t operation = 0;
  std::uintptr_t pc = 0;
};

/// A heap block of the subject.
struct HeapBlock {
  std::uintptr_t begin = 0;
  std::size_t size = 0;
  BlockEvent allocated;
  BlockEvent freed;  // meaningful unless live
  std::uint64_t ordinal = 0;
  AllocationFamily family = AllocationFamily::kMalloc;
  bool live = false;
};

/// Thread-safety: called by the running task or the controller only.
class ProcessImage {
 public:
  virtual ~ProcessImage() = default;

  /// Remembers the writable state of the subject's modules and, from
  /// `stack_low` upwards, the calling thread's stack; 0: nothing of that.
  virtual void snapshot(std::uintptr_t stack_low) noexcept = 0;
  /// Brings it back and empties the subject's heap.
  virtual void restore() noexcept = 0;

  /// From here on restore() touches only what was written in some execution, where the system
  /// provides for that. For one kernel thread that runs all tasks, and many executions.
  virtual void guard() noexcept = 0;
  /// Around the subject's running, between guard() and the worker's end.
  virtual void subject_starts() noexcept = 0;
  virtual void subject_stopped() noexcept = 0;
  /// For signal handlers: whether the signal was the guard's doing. The interrupted code goes on
  /// then.
  virtual bool absorbs(int signal, const siginfo_t& info, void* context) noexcept = 0;
  /// False where the subject is known to have made no system call since subject_starts().
  [[nodiscard]] virtual bool may_have_called_system() const noexcept = 0;
  /// Gives the calling thread's thread_locals their initial values.
  virtual void reset_thread_locals() noexcept = 0;

  // The subject's heap.
  virtual void* allocate(const BlockEvent& by, std::uint64_t ordinal, std::size_t bytes,
                         std::size_t alignment, AllocationFamily family) noexcept = 0;
  virtual FreeVerdict release(void* pointer, const BlockEvent& by,
                              AllocationFamily family) noexcept = 0;
  /// Whether something was written behind the end of a live block, and one such block.
  [[nodiscard]] virtual bool find_overrun(HeapBlock& first) const noexcept = 0;
  [[nodiscard]] virtual bool find_block(std::uintptr_t address,
                                        HeapBlock& block) const noexcept = 0;
  /// How many blocks nothing refers to, once every task has ended, and one of them. The engine
  /// refers to those whose addresses are in `ours`.
  [[nodiscard]] virtual std::size_t find_leaks(HeapBlock& first,
                                               std::span<const std::byte> ours) const noexcept = 0;

  // Names.
  /// Libraries were loaded or unloaded.
  virtual void modules_changed() noexcept = 0;
  /// Whether the variables of the module with the code at `pc` are restored between executions.
  [[nodiscard]] virtual bool is_restored(std::uintptr_t pc) const noexcept = 0;
  [[nodiscard]] virtual Site site_of(std::uintptr_t pc) const noexcept = 0;
  /// Whether the innermost of `frames`, the system's own and our interposers' apart, is in a
  /// library that is not instrumented.
  [[nodiscard]] virtual bool find_uninstrumented(std::span<const std::uintptr_t> frames,
                                                 UninstrumentedCode& code) const noexcept = 0;
  /// A variable of a loaded module: its id (hash of the basename) and the offset.
  [[nodiscard]] virtual bool find_module(std::uintptr_t address, std::uint64_t& id,
                                         std::uint64_t& offset) const noexcept = 0;

  /// Rows for the trace; returns how many there are.
  [[nodiscard]] virtual std::size_t module_count() const noexcept = 0;
  virtual void describe_module(std::size_t index, std::uintptr_t& base, std::uint64_t& id,
                               char* path, std::size_t capacity) const noexcept = 0;
};

/// Makes the image for this worker in memory of its own.
[[nodiscard]] ProcessImage& make_process_image() noexcept;

// --- The subject's heap before there is a worker
//
// What the subject allocates before the exploration (static initialisers, main)
// comes from the same heap and becomes the baseline: each execution finds those
// blocks, and what is in them, as they were. Callers hold the heap's lock while
// the process may have several threads.

/// Null when the heap cannot be had or is full; libc's heap serves then.
[[nodiscard]] void* allocate_baseline(std::size_t bytes, std::size_t alignment, std::uintptr_t pc,
                                      AllocationFamily family) noexcept;
/// For whoever frees a block of the subject's heap outside a task.
FreeVerdict release_baseline(void* pointer) noexcept;
/// The size requested of a block of the subject's heap.
[[nodiscard]] std::size_t block_size(const void* pointer) noexcept;

/// While one lives, the calling thread's allocations are the harness's own: they
/// come from libc's heap and keep their contents across executions.
class HarnessAllocations {
 public:
  HarnessAllocations() noexcept { ++depth; }
  ~HarnessAllocations() { --depth; }
  HarnessAllocations(const HarnessAllocations&) = delete;
  HarnessAllocations& operator=(const HarnessAllocations&) = delete;
  [[nodiscard]] static bool active() noexcept { return depth != 0; }
  /// The harness's own, for whoever resets thread_locals.
  [[nodiscard]] static const int& counter() noexcept { return depth; }

 private:
  static constinit thread_local int depth
      __attribute__((tls_model("initial-exec"), visibility("hidden")));
};

}  // namespace weft::engine
