// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/base/thread_exit.h"

#include <cxxabi.h>

#include <new>

// The linker defines one per module; it keeps this module loaded until the registered calls ran.
// A name of the C++ ABI.
extern "C" void* __dso_handle;  // NOLINT(readability-identifier-naming)

namespace weftrt::detail {
namespace {

void call_release(void* release) { reinterpret_cast<void (*)()>(release)(); }

}  // namespace

void at_thread_exit(void (*release)()) {
  // A function pointer passes through void* unchanged on every platform with this ABI.
  if (abi::__cxa_thread_atexit(&call_release, reinterpret_cast<void*>(release),
                               static_cast<void*>(&__dso_handle)) != 0)
    throw std::bad_alloc();
}

}  // namespace weftrt::detail
