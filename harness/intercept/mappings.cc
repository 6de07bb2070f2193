// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/intercept/mappings.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdarg>

#include "harness/base/mapping.h"
#include "harness/base/system_call.h"
#include "harness/intercept/hot_functions.h"
#include "harness/intercept/interpose.h"

namespace weft::intercept {

void TaskMappings::add(std::uintptr_t begin, std::size_t size) noexcept {
  if (ranges_.size() < kMost) ranges_.push_back({begin, begin + round_up(size, kPageBytes)});
}

void TaskMappings::remove(std::uintptr_t begin, std::size_t size) noexcept {
  const std::uintptr_t end = begin + round_up(size, kPageBytes);
  // Ranges do not overlap, and the pieces added here lie outside.
  for (std::size_t i = 0, count = ranges_.size(); i < count; ++i) {
    const Range whole = ranges_[i];
    if (end <= whole.begin || whole.end <= begin) continue;
    ranges_[i].end = whole.begin < begin ? begin : whole.begin;  // perhaps empty
    if (end < whole.end && ranges_.size() < kMost) ranges_.push_back({end, whole.end});
  }
  std::size_t kept = 0;
  for (const Range& range : ranges_) {
    if (range.begin != range.end) ranges_[kept++] = range;
  }
  while (ranges_.size() != kept) ranges_.pop_back();
}

void TaskMappings::unmap_all() noexcept {
  for (const Range& range : ranges_) {
    system_call(SYS_munmap, range.begin, range.end - range.begin);
  }
  ranges_.clear();
}

namespace {

/// A system call's result as libc gives it.
long as_libc(long result) noexcept {
  if (!is_error(result)) return result;
  errno = static_cast<int>(-result);
  return -1;
}

/// Memory that is the execution's alone. What is shared with a file or a device is the world's, and
/// what a driver maps outlives the execution like its variables.
bool is_ours(int flags, std::uintptr_t pc) noexcept {
  const Task* const self = current_task;
  return self != nullptr && (flags & (MAP_PRIVATE | MAP_ANONYMOUS)) != 0 &&
         self->execution->image().is_restored(pc);
}

void* map(void* at, std::size_t size, int protection, int flags, int file, long offset,
          std::uintptr_t pc) noexcept {
  const long result = system_call(SYS_mmap, at, size, protection, flags, file, offset);
  if (!is_error(result) && hot.mappings != nullptr) {
    if ((flags & MAP_FIXED) != 0) hot.mappings->remove(static_cast<std::uintptr_t>(result), size);
    if (is_ours(flags, pc)) hot.mappings->add(static_cast<std::uintptr_t>(result), size);
  }
  return reinterpret_cast<void*>(as_libc(result));
}

}  // namespace
}  // namespace weft::intercept

using namespace weft::intercept;

WEFT_INTERPOSE void* mmap(void* at, std::size_t size, int protection, int flags, int file,
                          off_t offset) noexcept {
  return map(at, size, protection, flags, file, offset, WEFT_CALLER);
}

WEFT_INTERPOSE void* mmap64(void* at, std::size_t size, int protection, int flags, int file,
                            off64_t offset) noexcept {
  return map(at, size, protection, flags, file, offset, WEFT_CALLER);
}

WEFT_INTERPOSE int munmap(void* begin, std::size_t size) noexcept {
  const long result = weft::system_call(SYS_munmap, begin, size);
  if (!weft::is_error(result) && hot.mappings != nullptr) {
    hot.mappings->remove(reinterpret_cast<std::uintptr_t>(begin), size);
  }
  return static_cast<int>(as_libc(result));
}

WEFT_INTERPOSE void* mremap(void* old, std::size_t old_size, std::size_t size, int flags,
                            ...) noexcept {
  va_list rest;
  va_start(rest, flags);
  void* const wanted = (flags & MREMAP_FIXED) != 0 ? va_arg(rest, void*) : nullptr;
  va_end(rest);
  const long result = weft::system_call(SYS_mremap, old, old_size, size, flags, wanted);
  if (!weft::is_error(result) && hot.mappings != nullptr) {
    if ((flags & MREMAP_DONTUNMAP) == 0)
      hot.mappings->remove(reinterpret_cast<std::uintptr_t>(old), old_size);
    hot.mappings->remove(static_cast<std::uintptr_t>(result), size);
    if (is_ours(MAP_PRIVATE, WEFT_CALLER))
      hot.mappings->add(static_cast<std::uintptr_t>(result), size);
  }
  return reinterpret_cast<void*>(as_libc(result));
}
