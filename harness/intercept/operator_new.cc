// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// operator new and delete: malloc's memory, but not to be freed by free().
//
// Outside AddressSanitizer only the two forms of each are defined on which libstdc++ builds all
// others, arrays included, and weakly: a program's own come first. With AddressSanitizer every form
// would be served from its own heap, so every form is defined here, and what else glibc builds upon
// malloc.
#include <cerrno>
#include <cstdlib>
#include <new>

#include "harness/base/export.h"
#include "harness/intercept/heap.h"
#include "harness/intercept/interpose.h"

namespace {

using std::align_val_t;
using std::size_t;
using weft::AllocationFamily;
using weft::intercept::allocate_new;
using weft::intercept::release_new;

void* allocate_or_throw(size_t size, align_val_t alignment, AllocationFamily family,
                        std::uintptr_t pc) {
  for (;;) {
    if (void* const block = allocate_new(size, static_cast<size_t>(alignment), family, pc))
      return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

constexpr align_val_t kDefault{__STDCPP_DEFAULT_NEW_ALIGNMENT__};

}  // namespace

#ifndef WEFT_ASAN

#ifndef __clang__  // which has no such warning
// The sized forms are libstdc++'s, which call these.
#pragma GCC diagnostic ignored "-Wsized-deallocation"
#endif

#define WEFT_WEAK [[gnu::weak, gnu::noinline]] WEFT_EXPORT

WEFT_WEAK void* operator new(size_t size) {
  return allocate_or_throw(size, kDefault, AllocationFamily::kNew, WEFT_CALLER);
}
WEFT_WEAK void* operator new(size_t size, align_val_t alignment) {
  return allocate_or_throw(size, alignment, AllocationFamily::kNew, WEFT_CALLER);
}
WEFT_WEAK void operator delete(void* block) noexcept {
  release_new(block, AllocationFamily::kNew, WEFT_CALLER);
}
WEFT_WEAK void operator delete(void* block, align_val_t) noexcept {
  release_new(block, AllocationFamily::kNew, WEFT_CALLER);
}

#else

namespace {

void* allocate_or_null(size_t size, align_val_t alignment, AllocationFamily family,
                       std::uintptr_t pc) noexcept {
  try {
    return allocate_or_throw(size, alignment, family, pc);
  } catch (...) {
    return nullptr;
  }
}

}  // namespace

#define WEFT_NEW(name, family)                                                                 \
  WEFT_EXPORT void* name(size_t size) {                                                        \
    return allocate_or_throw(size, kDefault, family, WEFT_CALLER);                             \
  }                                                                                            \
  WEFT_EXPORT void* name(size_t size, align_val_t alignment) {                                 \
    return allocate_or_throw(size, alignment, family, WEFT_CALLER);                            \
  }                                                                                            \
  WEFT_EXPORT void* name(size_t size, const std::nothrow_t&) noexcept {                        \
    return allocate_or_null(size, kDefault, family, WEFT_CALLER);                              \
  }                                                                                            \
  WEFT_EXPORT void* name(size_t size, align_val_t alignment, const std::nothrow_t&) noexcept { \
    return allocate_or_null(size, alignment, family, WEFT_CALLER);                             \
  }
#define WEFT_DELETE_FORM(name, family, ...)                                \
  WEFT_EXPORT void name(void* block __VA_OPT__(, ) __VA_ARGS__) noexcept { \
    release_new(block, family, WEFT_CALLER);                               \
  }
#define WEFT_DELETE(name, family)                       \
  WEFT_DELETE_FORM(name, family)                        \
  WEFT_DELETE_FORM(name, family, size_t)                \
  WEFT_DELETE_FORM(name, family, align_val_t)           \
  WEFT_DELETE_FORM(name, family, size_t, align_val_t)   \
  WEFT_DELETE_FORM(name, family, const std::nothrow_t&) \
  WEFT_DELETE_FORM(name, family, align_val_t, const std::nothrow_t&)

WEFT_NEW(operator new, AllocationFamily::kNew)
WEFT_NEW(operator new[], AllocationFamily::kNewArray)
WEFT_DELETE(operator delete, AllocationFamily::kNew)
WEFT_DELETE(operator delete[], AllocationFamily::kNewArray)

WEFT_INTERPOSE void* reallocarray(void* block, size_t count, size_t size) noexcept {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return std::realloc(block, bytes);
}

#endif
