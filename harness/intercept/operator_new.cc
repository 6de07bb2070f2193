// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Allocation that AddressSanitizer would serve from its own heap, past our malloc: operator new in
// all its forms, and what glibc builds upon malloc. Empty without AddressSanitizer.
#ifdef WEFT_ASAN

#include <cerrno>
#include <cstdlib>
#include <new>

#include "harness/base/export.h"
#include "harness/intercept/interpose.h"

namespace {

using std::align_val_t;
using std::nothrow_t;
using std::size_t;

void* allocate(size_t size, align_val_t alignment) noexcept {
  const auto bytes = static_cast<size_t>(alignment);
  return bytes <= __STDCPP_DEFAULT_NEW_ALIGNMENT__ ? std::malloc(size)
                                                   : std::aligned_alloc(bytes, size);
}

void* allocate_or_throw(size_t size, align_val_t alignment) {
  for (;;) {
    if (void* const block = allocate(size, alignment)) return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void* allocate_or_null(size_t size, align_val_t alignment) noexcept {
  try {
    return allocate_or_throw(size, alignment);
  } catch (...) {
    return nullptr;
  }
}

constexpr align_val_t kDefault{__STDCPP_DEFAULT_NEW_ALIGNMENT__};

}  // namespace

#define WEFT_NEW(name)                                                                    \
  WEFT_EXPORT void* name(size_t size) { return allocate_or_throw(size, kDefault); }       \
  WEFT_EXPORT void* name(size_t size, align_val_t alignment) {                            \
    return allocate_or_throw(size, alignment);                                            \
  }                                                                                       \
  WEFT_EXPORT void* name(size_t size, const nothrow_t&) noexcept {                        \
    return allocate_or_null(size, kDefault);                                              \
  }                                                                                       \
  WEFT_EXPORT void* name(size_t size, align_val_t alignment, const nothrow_t&) noexcept { \
    return allocate_or_null(size, alignment);                                             \
  }
#define WEFT_DELETE(name)                                                                \
  WEFT_EXPORT void name(void* block) noexcept { std::free(block); }                      \
  WEFT_EXPORT void name(void* block, size_t) noexcept { std::free(block); }              \
  WEFT_EXPORT void name(void* block, align_val_t) noexcept { std::free(block); }         \
  WEFT_EXPORT void name(void* block, size_t, align_val_t) noexcept { std::free(block); } \
  WEFT_EXPORT void name(void* block, const nothrow_t&) noexcept { std::free(block); }    \
  WEFT_EXPORT void name(void* block, align_val_t, const nothrow_t&) noexcept { std::free(block); }

WEFT_NEW(operator new)
WEFT_NEW(operator new[])
WEFT_DELETE(operator delete)
WEFT_DELETE(operator delete[])

WEFT_INTERPOSE void* reallocarray(void* block, size_t count, size_t size) noexcept {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return std::realloc(block, bytes);
}

#endif
