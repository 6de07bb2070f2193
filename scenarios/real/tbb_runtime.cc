// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What oneTBB's containers need of libtbb.so, in its place: the containers are headers, and with
// these few functions the scenarios need no library that is not instrumented.

#include <oneapi/tbb/cache_aligned_allocator.h>
#include <oneapi/tbb/detail/_exception.h>
#include <oneapi/tbb/tbb_allocator.h>
#include <cstdlib>
#include <new>

namespace tbb::detail::r1 {

namespace {

constexpr std::size_t kCacheLine = 128;  // as in libtbb: a line and the one fetched beside it

void* or_throw(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace

void* cache_aligned_allocate(std::size_t size) {
  return or_throw(
      std::aligned_alloc(kCacheLine, (size + kCacheLine - 1) / kCacheLine * kCacheLine));
}

void cache_aligned_deallocate(void* block) { std::free(block); }

void* allocate_memory(std::size_t size) { return or_throw(std::malloc(size)); }

void deallocate_memory(void* block) { std::free(block); }

void throw_exception(exception_id) { std::abort(); }

}  // namespace tbb::detail::r1
