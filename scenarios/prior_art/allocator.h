// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the models of prior art set and read: a pair of functions that belong together, and memory
// that remembers where it came from. The models are plain C++, as they would be found; each has its
// story beside it, and its cost in prior_art_bench.cc.
#pragma once

#include <cstddef>

#include "scenarios/marked_memory.h"

namespace weft::prior_art {

using AllocateFn = void* (*)(std::size_t);
using DeallocateFn = void (*)(void*);

struct Allocator {
  AllocateFn allocate;
  DeallocateFn deallocate;
};

template <int kOwner>
inline constexpr Allocator kMarked{&allocate_marked<kOwner>, &deallocate_marked<kOwner>};

}  // namespace weft::prior_art
