// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Memory that bears the mark of the allocator it came from, for stories in which one allocator's
// deallocate meets what another one's allocate gave.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#include <weft/weft.h>

namespace weft {

struct alignas(std::max_align_t) Mark {
  int owner;
};

/// Null where there is no memory.
template <int kOwner>
void* allocate_marked(std::size_t bytes) {
  void* const memory = std::malloc(sizeof(Mark) + bytes);
  return memory == nullptr ? nullptr : new (memory) Mark{kOwner} + 1;
}

/// It is a finding where the mark is another's.
template <int kOwner>
void deallocate_marked(void* memory) {
  if (memory == nullptr) return;
  Mark* const mark = static_cast<Mark*>(memory) - 1;
  always(mark->owner == kOwner, "memory goes back to the allocator it came from");
  std::free(mark);
}

}  // namespace weft
