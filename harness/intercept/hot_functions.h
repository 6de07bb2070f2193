// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// libc's functions that tasks pass often, looked up once.
#pragma once

#include <pthread.h>

namespace weft::intercept {

struct HotFunctions {
  int (*mutex_trylock)(pthread_mutex_t*) = nullptr;
  int (*mutex_unlock)(pthread_mutex_t*) = nullptr;
  int (*setspecific)(pthread_key_t, const void*) = nullptr;
};

/// Filled in by engine::prepare_interception(), before the snapshot, and constant from then on.
extern HotFunctions hot;

}  // namespace weft::intercept
