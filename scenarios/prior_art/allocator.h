// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the models of prior art set and read: a pair of functions that belong together, and memory
// that remembers where it came from. The models are plain C++, as they would be found; each has its
// story beside it, and its cost in prior_art_bench.cc.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#include <weft/weft.h>

namespace weft::prior_art {

struct alignas(std::max_align_t) Header {
  int owner;
};

using AllocateFn = void* (*)(std::size_t);
using DeallocateFn = void (*)(void*);

template <int kOwner>
void* allocate_marked(std::size_t bytes) {
  void* const memory = std::malloc(sizeof(Header) + bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return new (memory) Header{kOwner} + 1;
}

template <int kOwner>
void deallocate_marked(void* memory) {
  Header* const header = static_cast<Header*>(memory) - 1;
  weft::always(header->owner == kOwner, "memory goes back to the allocator it came from");
  std::free(header);
}

struct Allocator {
  AllocateFn allocate;
  DeallocateFn deallocate;
};

template <int kOwner>
inline constexpr Allocator kMarked{&allocate_marked<kOwner>, &deallocate_marked<kOwner>};

}  // namespace weft::prior_art
