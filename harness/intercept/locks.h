// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What mutexes and condition variables share: that they are objects in memory,
// and release and retake without a schedule point of their own.
#pragma once

#include <pthread.h>

#include "harness/intercept/interpose.h"

namespace weft::intercept {

/// Whatever is done with a lock or a condition races with its initialisation and its end. It is
/// noted as an atomic access: tasks may do it at the same time.
inline void used(Task& self, const volatile void* object, std::uintptr_t pc) noexcept {
  self.execution->memory().accessed(self, trace::AccessKind::kAtomicWrite,
                                    reinterpret_cast<std::uintptr_t>(object), 1, pc);
}

int unlock_now(Task& self, pthread_mutex_t* mutex) noexcept;
int relock_now(Task& self, pthread_mutex_t* mutex, std::uintptr_t pc) noexcept;

}  // namespace weft::intercept
