// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// malloc and its family. What the subject allocates comes from the subject's
// heap, which every execution finds as it was at the snapshot; what libc, the
// dynamic loader and the harness allocate comes from glibc's and outlives the
// execution. free() routes by address, so either may be freed by anyone.
//
// Under AddressSanitizer the same holds, with its heap in place of glibc's (docs/adr/0006).
#include <elf.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <malloc.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "harness/base/text_buffer.h"
#include "harness/intercept/heap.h"
#include "harness/intercept/interpose.h"
#include "harness/intercept/lock_misuse.h"
#include "harness/intercept/per_execution.h"

// The heap beneath, under the names that its owner exports for this purpose.
#ifdef WEFT_ASAN
#define WEFT_BENEATH(name) __interceptor_##name
#else
#define WEFT_BENEATH(name) __libc_##name
#endif
extern "C" {
void* WEFT_BENEATH(malloc)(std::size_t);
void* WEFT_BENEATH(calloc)(std::size_t, std::size_t);
void* WEFT_BENEATH(realloc)(void*, std::size_t);
void* WEFT_BENEATH(memalign)(std::size_t, std::size_t);
void WEFT_BENEATH(free)(void*);
}

namespace weft::intercept {
namespace {

constexpr std::size_t kDefaultAlignment = 16;

/// One thread at a time outside of explorations, where the subject may have
/// several. Never held across a call that could come back here.
class HeapLock {
 public:
  HeapLock() noexcept {
    while (__atomic_exchange_n(&held, 1, __ATOMIC_ACQUIRE) != 0) {  // pairs with the release below
      while (__atomic_load_n(&held, __ATOMIC_RELAXED) != 0) __builtin_ia32_pause();
    }
  }
  ~HeapLock() { __atomic_store_n(&held, 0, __ATOMIC_RELEASE); }  // pairs with the acquire above
  HeapLock(const HeapLock&) = delete;
  HeapLock& operator=(const HeapLock&) = delete;

 private:
  static inline int held = 0;  // free whenever a snapshot is taken
};

/// Code of libc and of the dynamic loader, whose records outlive an execution.
/// malloc is called before any constructor ran, so this reads the ELF headers
/// in memory and allocates nothing.
class LibcCode {
 public:
  [[nodiscard]] static bool contains(std::uintptr_t pc) noexcept {
    if (!known) find();
    return pc - libc.begin < libc.size || pc - loader.begin < loader.size;
  }

 private:
  struct Range {
    std::uintptr_t begin;
    std::uintptr_t size;
  };

  static void find() noexcept {
    Dl_info info;
    if (dladdr(reinterpret_cast<const void*>(&gnu_get_libc_version), &info) != 0)
      libc = image_of(info.dli_fbase);
    loader = image_of(reinterpret_cast<const void*>(getauxval(AT_BASE)));
    known = true;
  }

  static Range image_of(const void* base) noexcept {
    if (base == nullptr) return {0, 0};
    const auto* const bytes = static_cast<const char*>(base);
    const auto* const header = static_cast<const ElfW(Ehdr)*>(base);
    const auto* const segments = reinterpret_cast<const ElfW(Phdr)*>(bytes + header->e_phoff);
    Range range{reinterpret_cast<std::uintptr_t>(base), 0};
    for (int i = 0; i < header->e_phnum; ++i) {
      if (segments[i].p_type != PT_LOAD) continue;
      const std::uintptr_t end = segments[i].p_vaddr + segments[i].p_memsz;
      if (end > range.size) range.size = end;
    }
    return range;
  }

  static inline bool known = false;
  static inline Range libc{};
  static inline Range loader{};
};

/// The subject sees no more than a failed malloc; its output is the place for the reason.
void tell_of_full_heap(Task& self, std::size_t bytes) noexcept {
  bool& told = per_execution(self).told_of_full_heap;
  if (std::exchange(told, true)) return;
  const engine::InterceptionOff off;
  FixedText<160> text;
  text.append("weft: an allocation of ").append_bytes(bytes);
  text.append(" failed: an execution's heap holds at most 1 GiB\n");
  (void)!::write(STDERR_FILENO, text.c_str(), text.size());
}

/// Null: the allocation is libc's or the harness's own, and glibc's heap serves it.
void* allocate(std::size_t bytes, std::size_t alignment, std::uintptr_t pc, bool& ours,
               AllocationFamily family = AllocationFamily::kMalloc) noexcept {
  Task* const self = current_task;
  ours = !LibcCode::contains(pc) && (self != nullptr || !engine::HarnessAllocations::active());
  if (!ours) return nullptr;
  void* block = nullptr;
  if (self != nullptr) {
    if (self->execution->happens(*self, trace::ChoiceKind::kOutOfMemory)) {
      errno = ENOMEM;
      return nullptr;
    }
    block = self->execution->image().allocate({self->id, self->operation_index, pc},
                                              self->allocations++, bytes, alignment, family);
    if (block == nullptr) tell_of_full_heap(*self, bytes);
    self->execution->memory().allocated(*self, bytes, pc);
  } else {
    const HeapLock lock;
    block = engine::allocate_baseline(bytes, alignment, pc, family);
    ours = block != nullptr;  // full, or its address is taken: glibc's heap will do
  }
  if (block == nullptr) errno = ENOMEM;
  return block;
}

void release(void* pointer, std::uintptr_t pc,
             AllocationFamily family = AllocationFamily::kMalloc) noexcept {
  Task* const self = current_task;
  if (self == nullptr) {
    const HeapLock lock;
    engine::release_baseline(pointer);
    return;
  }
  const auto at = reinterpret_cast<std::uintptr_t>(pointer);
  self->execution->memory().freed(*self, at, pc);
  require_unused(*self, at, engine::block_size(pointer), pc);
  switch (
      self->execution->image().release(pointer, {self->id, self->operation_index, pc}, family)) {
    case engine::FreeVerdict::kFreed: return;
    case engine::FreeVerdict::kDoubleFree:
      self->execution->memory().bad_free(*self, trace::FindingKind::kDoubleFree, at, pc);
    case engine::FreeVerdict::kInvalid:
      self->execution->memory().bad_free(*self, trace::FindingKind::kInvalidFree, at, pc);
    case engine::FreeVerdict::kWrongFamily:
      self->execution->memory().wrong_free(*self, at, pc, family);
    case engine::FreeVerdict::kOverrun:
      if (self->execution->memory().active())
        self->execution->memory().overrun_found(*self, at, pc);
      // Nobody asked to be told.
      engine::release_baseline(pointer);
      return;
  }
}

/// Of what the subject's heap never gave: a block from before there was one, or no block at all.
void release_elsewhere(void* pointer, std::uintptr_t pc) noexcept {
  Task* const self = current_task;
  if (self != nullptr && pointer != nullptr) {
    const auto at = reinterpret_cast<std::uintptr_t>(pointer);
    const ObjectSpace space = self->execution->object_of(at).space;
    if (space == ObjectSpace::kStack || space == ObjectSpace::kModule) {
      self->execution->memory().bad_free(*self, trace::FindingKind::kInvalidFree, at, pc);
    }
  }
  WEFT_BENEATH(free)(pointer);
}

std::size_t size_of(void* pointer) noexcept {
  return engine::in_subject_heap(pointer) ? engine::block_size(pointer)
                                          : WEFT_REAL(malloc_usable_size)(pointer);
}

/// Always moves, so that a pointer kept across it is found out.
void* reallocate(void* pointer, std::size_t bytes, std::uintptr_t pc) noexcept {
  bool ours = false;
  void* block = allocate(bytes, kDefaultAlignment, pc, ours);
  if (!ours) {
    if (!engine::in_subject_heap(pointer)) return WEFT_BENEATH(realloc)(pointer, bytes);
    block = WEFT_BENEATH(malloc)(bytes);
  }
  if (block == nullptr) return nullptr;
  const std::size_t old = size_of(pointer);
  std::memcpy(block, pointer, old < bytes ? old : bytes);
  if (engine::in_subject_heap(pointer)) {
    release(pointer, pc);
  } else {
    WEFT_BENEATH(free)(pointer);
  }
  return block;
}

bool is_power_of_two(std::size_t value) noexcept {
  return value != 0 && (value & (value - 1)) == 0;
}

void* aligned(std::size_t alignment, std::size_t bytes, std::uintptr_t pc) noexcept {
  bool ours = false;
  void* const block = allocate(bytes, alignment, pc, ours);
  return ours ? block : WEFT_BENEATH(memalign)(alignment, bytes);
}

}  // namespace

void* allocate_new(std::size_t bytes, std::size_t alignment, AllocationFamily family,
                   std::uintptr_t pc) noexcept {
  bool ours = false;
  void* const block = allocate(bytes, alignment, pc, ours, family);
  if (ours) return block;
  return alignment <= kDefaultAlignment ? WEFT_BENEATH(malloc)(bytes)
                                        : WEFT_BENEATH(memalign)(alignment, bytes);
}

void release_new(void* pointer, AllocationFamily family, std::uintptr_t pc) noexcept {
  if (engine::in_subject_heap(pointer)) {
    release(pointer, pc, family);
  } else {
    release_elsewhere(pointer, pc);
  }
}

}  // namespace weft::intercept

using namespace weft::intercept;

WEFT_INTERPOSE void* malloc(std::size_t bytes) noexcept {
  bool ours = false;
  void* const block = allocate(bytes, kDefaultAlignment, WEFT_CALLER, ours);
  return ours ? block : WEFT_BENEATH(malloc)(bytes);
}

WEFT_INTERPOSE void* calloc(std::size_t count, std::size_t bytes) noexcept {
  std::size_t total = 0;
  if (__builtin_mul_overflow(count, bytes, &total)) {
    errno = ENOMEM;
    return nullptr;
  }
  bool ours = false;
  void* const block = allocate(total, kDefaultAlignment, WEFT_CALLER, ours);
  if (!ours) return WEFT_BENEATH(calloc)(count, bytes);
  if (block != nullptr) std::memset(block, 0, total);
  return block;
}

WEFT_INTERPOSE void* realloc(void* pointer, std::size_t bytes) noexcept {
  if (pointer == nullptr) {
    bool ours = false;
    void* const block = allocate(bytes, kDefaultAlignment, WEFT_CALLER, ours);
    return ours ? block : WEFT_BENEATH(malloc)(bytes);
  }
  if (bytes == 0) {
    free(pointer);
    return nullptr;
  }
  return reallocate(pointer, bytes, WEFT_CALLER);
}

WEFT_INTERPOSE void free(void* pointer) noexcept {
  if (weft::engine::in_subject_heap(pointer)) {
    release(pointer, WEFT_CALLER);
  } else {
    release_elsewhere(pointer, WEFT_CALLER);
  }
}

WEFT_INTERPOSE void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  return aligned(alignment, bytes, WEFT_CALLER);
}

WEFT_INTERPOSE void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return aligned(alignment, bytes, WEFT_CALLER);
}

WEFT_INTERPOSE int posix_memalign(void** result, std::size_t alignment,
                                  std::size_t bytes) noexcept {
  if (!is_power_of_two(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  void* const block = aligned(alignment, bytes, WEFT_CALLER);
  if (block == nullptr) return ENOMEM;
  *result = block;
  return 0;
}

WEFT_INTERPOSE void* valloc(std::size_t bytes) noexcept {
  return aligned(static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), bytes, WEFT_CALLER);
}

WEFT_INTERPOSE std::size_t malloc_usable_size(void* pointer) noexcept { return size_of(pointer); }
