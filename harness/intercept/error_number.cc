// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// errno. Where one kernel thread runs all tasks, libc's own code always writes that thread's; its
// function for everybody else would give the errno of the thread that the caller is taken for.
#include <cerrno>

#include "harness/intercept/interpose.h"

using namespace weft::intercept;

WEFT_INTERPOSE int* __errno_location() noexcept {
  int* const shared = weft::engine::shared_error_number;
  if (shared != nullptr) return shared;
  // Looked up once: outside tasks errno is read as often as anywhere.
  using Function = int* (*)();
  static constinit Function libc = nullptr;
  Function real = __atomic_load_n(&libc, __ATOMIC_RELAXED);
  if (real == nullptr) {
    real = WEFT_REAL(__errno_location);
    __atomic_store_n(&libc, real, __ATOMIC_RELAXED);
  }
  return real();
}
