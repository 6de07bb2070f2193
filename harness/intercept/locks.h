// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What condition variables need of mutexes: release and retake without a
// schedule point of their own.
#pragma once

#include <pthread.h>

#include "harness/intercept/interpose.h"

namespace weft::intercept {

int unlock_now(Task& self, pthread_mutex_t* mutex) noexcept;
int relock_now(Task& self, pthread_mutex_t* mutex, std::uintptr_t pc) noexcept;

}  // namespace weft::intercept
