// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Blocks that the wrong function frees, and accesses behind their end. The compiler must not see
// through it: pointers and functions go through volatile.

#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include <weft/scenario.h>

#include "scenarios/kinds.h"

namespace {

template <typename T>
T unseen(T value) {
  T volatile hidden = value;
  return hidden;
}

using Allocate = void* (*)(std::size_t);
using Release = void (*)(void*);

WEFT_SCENARIO(new_free, {.name = "facilities/heap_misuse.new_free",
                         .summary = "free of what new allocated",
                         .expect = weft::must_find("invalid_free"),
                         .budget = 20}) {
  unseen<Release> (&std::free)(new int(1));
}

WEFT_SCENARIO(free_local, {.name = "facilities/heap_misuse.free_local",
                           .summary = "free of what is on the stack",
                           .expect = weft::must_find("invalid_free"),
                           .budget = 20}) {
  int local = 0;
  unseen<Release> (&std::free)(&local);
}

WEFT_SCENARIO(free_global, {.name = "facilities/heap_misuse.free_global",
                            .summary = "free of what is a module's",
                            .expect = weft::must_find("invalid_free"),
                            .budget = 20}) {
  static int global = 0;
  unseen<Release> (&std::free)(&global);
}

WEFT_SCENARIO(freed_mutex, {.name = "facilities/heap_misuse.freed_mutex",
                            .summary = "a mutex is locked after the object that it is of",
                            .expect = weft::must_find("use_after_free", kUseAfterFree),
                            .budget = 20}) {
  std::mutex* const mutex = unseen(new std::mutex);
  delete mutex;
  unseen(mutex)->lock();
}

WEFT_SCENARIO(malloc_delete, {.name = "facilities/heap_misuse.malloc_delete",
                              .summary = "delete of what malloc allocated",
                              .expect = weft::must_find("invalid_free"),
                              .budget = 20}) {
  delete static_cast<int*>(unseen<Allocate>(&std::malloc)(sizeof(int)));
}

WEFT_SCENARIO(new_realloc, {.name = "facilities/heap_misuse.new_realloc",
                            .summary = "realloc of what new allocated",
                            .expect = weft::must_find("invalid_free"),
                            .budget = 20}) {
  std::free(unseen<void* (*)(void*, std::size_t)>(&std::realloc)(new int(1), 64));
}

WEFT_SCENARIO(written_behind, {.name = "facilities/heap_misuse.written_behind",
                               .summary = "a write behind a block that fills its size class",
                               .expect = weft::must_find("memory_error"),
                               .budget = 20}) {
  std::vector<int> four(4);
  unseen(four.data())[4] = 1;
}

WEFT_SCENARIO(read_behind, {.name = "facilities/heap_misuse.read_behind",
                            .summary = "a read behind a block",
                            .expect = weft::must_find("memory_error"),
                            .budget = 20}) {
  std::vector<long> three(3);
  (void)unseen(unseen(three.data())[3]);
}

#ifndef WEFT_ASAN  // its own interceptor of strcpy reports, and what it reports is no finding's
                   // kind
WEFT_SCENARIO(copied_behind, {.name = "facilities/heap_misuse.copied_behind",
                              .summary = "libc writes behind a block, which shows when it is freed",
                              .expect = weft::must_find("memory_error"),
                              .budget = 20}) {
  char* const text = static_cast<char*>(std::malloc(5));
  unseen (&std::strcpy)(text, "seven..");
  std::free(text);
}

WEFT_SCENARIO(left_behind, {.name = "facilities/heap_misuse.left_behind",
                            .summary = "or at the end, if nobody frees it",
                            .expect = weft::must_find("memory_error"),
                            .budget = 20}) {
  static char* text;
  text = static_cast<char*>(std::malloc(5));
  unseen (&std::strcpy)(text, "seven..");
}
#endif

struct alignas(64) Line {
  char bytes[64];
};

WEFT_SCENARIO(every_form, {.name = "facilities/heap_misuse.fixed",
                           .summary = "each form of new and malloc with its own",
                           .expect = weft::must_pass(),
                           .budget = 50}) {
  delete new int(1);
  delete[] new int[3];
  delete[] new std::string[2];
  delete new Line;
  delete[] new Line[2];
  ::operator delete(::operator new(16, std::nothrow), std::nothrow);
  ::operator delete[](::operator new[](16, std::nothrow), std::nothrow);
  ::operator delete (::operator new(16), std::size_t{16});
  std::free(std::aligned_alloc(64, 128));
  std::free(strdup("text"));
  void* const block = std::malloc(16);
  std::free(std::realloc(block, 100));
  std::memset(std::make_unique<char[]>(16).get(), 'a', 16);
}

}  // namespace
