// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// malloc and its family. What a task allocates comes from the subject's heap,
// which every execution finds empty; what libc and the dynamic loader allocate,
// on whichever thread, comes from glibc's and outlives the execution. free()
// routes by address, so either may be freed by anyone.
//
// Under AddressSanitizer, which owns malloc, this file is empty.
#include <malloc.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "harness/intercept/interpose.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(WEFT_NO_SUBJECT_HEAP)

// glibc's own entry points, under the names it exports for this purpose.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace weft::intercept {
namespace {

constexpr std::size_t kDefaultAlignment = 16;

/// The task on whose account this allocation goes, or null for glibc's heap.
Task* allocating_task(std::uintptr_t pc) noexcept {
  Task* const self = current_task;
  return self != nullptr && !self->execution->image().is_libc(pc) ? self : nullptr;
}

void* allocate(Task& self, std::size_t bytes, std::size_t alignment, std::uintptr_t pc) noexcept {
  void* const block = self.execution->image().allocate(self.id, self.allocations++, bytes, alignment, pc);
  if (block == nullptr) errno = ENOMEM;
  return block;
}

void release(void* pointer, std::uintptr_t pc) noexcept {
  Task* const self = current_task;
  engine::ProcessImage* const image = engine::process_image();
  if (image == nullptr) return;
  const engine::FreeVerdict verdict =
      image->release(pointer, self == nullptr ? kNoTask : self->id, self == nullptr ? 0 : self->operation_index, pc);
  if (self == nullptr || verdict == engine::FreeVerdict::kFreed) return;
  self->execution->fail(trace::FindingKind::kAbort, verdict == engine::FreeVerdict::kDoubleFree
                                                        ? "double free of a heap block"
                                                        : "free of a pointer that malloc never returned");
}

void* reallocate(Task& self, void* pointer, std::size_t bytes, std::uintptr_t pc) noexcept {
  void* const block = allocate(self, bytes, kDefaultAlignment, pc);
  if (block == nullptr) return nullptr;
  const std::size_t old = engine::in_subject_heap(pointer) ? self.execution->image().usable_size(pointer)
                                                           : WEFT_REAL(malloc_usable_size)(pointer);
  std::memcpy(block, pointer, old < bytes ? old : bytes);
  free(pointer);
  return block;
}

bool is_power_of_two(std::size_t value) noexcept { return value != 0 && (value & (value - 1)) == 0; }

void* aligned(std::size_t alignment, std::size_t bytes, std::uintptr_t pc) noexcept {
  if (Task* const self = allocating_task(pc)) return allocate(*self, bytes, alignment, pc);
  return __libc_memalign(alignment, bytes);
}

}  // namespace
}  // namespace weft::intercept

using namespace weft::intercept;

WEFT_INTERPOSE void* malloc(std::size_t bytes) noexcept {
  const std::uintptr_t pc = WEFT_CALLER;
  if (Task* const self = allocating_task(pc)) return allocate(*self, bytes, kDefaultAlignment, pc);
  return __libc_malloc(bytes);
}

WEFT_INTERPOSE void* calloc(std::size_t count, std::size_t bytes) noexcept {
  const std::uintptr_t pc = WEFT_CALLER;
  Task* const self = allocating_task(pc);
  if (self == nullptr) return __libc_calloc(count, bytes);
  std::size_t total = 0;
  if (__builtin_mul_overflow(count, bytes, &total)) {
    errno = ENOMEM;
    return nullptr;
  }
  void* const block = allocate(*self, total, kDefaultAlignment, pc);
  if (block != nullptr) std::memset(block, 0, total);
  return block;
}

WEFT_INTERPOSE void* realloc(void* pointer, std::size_t bytes) noexcept {
  const std::uintptr_t pc = WEFT_CALLER;
  Task* const self = allocating_task(pc);
  if (self == nullptr && !weft::engine::in_subject_heap(pointer)) return __libc_realloc(pointer, bytes);
  if (self == nullptr) {
    // libc resizes what a task gave it (getline's buffer, say): it moves to libc's heap.
    void* const block = __libc_malloc(bytes);
    if (block == nullptr) return nullptr;
    const std::size_t old = weft::engine::process_image()->usable_size(pointer);
    std::memcpy(block, pointer, old < bytes ? old : bytes);
    release(pointer, pc);
    return block;
  }
  if (pointer == nullptr) return allocate(*self, bytes, kDefaultAlignment, pc);
  if (bytes == 0) {
    free(pointer);
    return nullptr;
  }
  return reallocate(*self, pointer, bytes, pc);
}

WEFT_INTERPOSE void free(void* pointer) noexcept {
  if (weft::engine::in_subject_heap(pointer)) {
    release(pointer, WEFT_CALLER);
  } else {
    __libc_free(pointer);
  }
}

WEFT_INTERPOSE void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  return aligned(alignment, bytes, WEFT_CALLER);
}

WEFT_INTERPOSE void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return aligned(alignment, bytes, WEFT_CALLER);
}

WEFT_INTERPOSE int posix_memalign(void** result, std::size_t alignment, std::size_t bytes) noexcept {
  if (!is_power_of_two(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  void* const block = aligned(alignment, bytes, WEFT_CALLER);
  if (block == nullptr) return ENOMEM;
  *result = block;
  return 0;
}

WEFT_INTERPOSE void* valloc(std::size_t bytes) noexcept {
  return aligned(static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), bytes, WEFT_CALLER);
}

WEFT_INTERPOSE std::size_t malloc_usable_size(void* pointer) noexcept {
  if (weft::engine::in_subject_heap(pointer)) return weft::engine::process_image()->usable_size(pointer);
  return WEFT_REAL(malloc_usable_size)(pointer);
}

#endif
