// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Memory: copies and fills by the functions of <cstring>, pools that threads share, and
// allocations that fail.

#include <cassert>
#include <cstdlib>
#include <cstring>
#include <memory_resource>
#include <new>
#include <thread>
#include <vector>

#include <weft/scenario.h>

namespace {

struct Record {
  char text[64];
};

WEFT_SCENARIO(bulk_memory_buggy, {.name = "facilities/bulk_memory.buggy",
                                  .summary = "a memcpy is an access like any other",
                                  .expect = weft::must_find("data_race"),
                                  .budget = 20}) {
  Record from;
  Record to;
  std::memset(&from, 'a', sizeof from);
  std::size_t size = sizeof from;
  std::thread copier([&] { std::memcpy(&to, &from, size); });
  std::memset(&to, 'b', size);
  copier.join();
}

WEFT_SCENARIO(bulk_memory, {.name = "facilities/bulk_memory.fixed",
                            .summary = "copies, moves and fills arrive whole",
                            .expect = weft::must_pass(),
                            .budget = 100}) {
  Record from;
  Record to;
  std::memset(&from, 'a', sizeof from);
  std::thread copier([&] { std::memcpy(&to, &from, sizeof to); });
  copier.join();
  std::memmove(to.text + 1, to.text, sizeof to - 1);
  assert(std::memcmp(&from, &to, sizeof to) == 0);
}

WEFT_SCENARIO(shared_pool, {.name = "facilities/shared_pool",
                            .summary = "a synchronized pool serves two threads",
                            .expect = weft::must_pass(),
                            .budget = 200}) {
  std::pmr::synchronized_pool_resource pool;
  const auto use = [&pool](int first) {
    std::pmr::vector<int> numbers(&pool);
    for (int i = 0; i < 5; ++i) numbers.push_back(first + i);
    for (int i = 0; i < 5; ++i) assert(numbers[static_cast<std::size_t>(i)] == first + i);
  };
  std::thread other(use, 10);
  use(20);
  other.join();
}

/// Keeps what it has got when there is no more.
int fill(std::vector<int*>& blocks) {
  for (int i = 0; i < 8; ++i) {
    int* const block = static_cast<int*>(std::malloc(sizeof(int)));
    if (block == nullptr) return i;
    *block = i;
    blocks.push_back(block);
  }
  return 8;
}

WEFT_SCENARIO(no_memory, {.name = "facilities/no_memory.fixed",
                          .summary = "an allocation may fail, at most once here",
                          .expect = weft::must_pass(),
                          .budget = 300,
                          .allocation_failures = 1}) {
  bool failed = false;
  try {
    std::vector<int*> blocks;
    blocks.reserve(8);
    failed = fill(blocks) < 8;
    for (int* block : blocks) std::free(block);
  } catch (const std::bad_alloc&) {
    failed = true;
  }
  weft::sometimes(failed, "an allocation failed");
  if (failed) {
    void* volatile block = std::malloc(1);
    assert(block != nullptr);
    std::free(block);
  }
}

WEFT_SCENARIO(no_memory_buggy, {.name = "facilities/no_memory.buggy",
                                .summary = "malloc's answer goes unchecked",
                                .expect = weft::must_find("assertion"),
                                .budget = 300,
                                .allocation_failures = 1}) {
  void* volatile block = std::malloc(16);  // no compiler may do without it
  assert(block != nullptr);
  std::free(block);
}

}  // namespace
