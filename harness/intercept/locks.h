// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Mutexes and condition variables, for those who call them by other names than
// pthread's: C11, and each other.
#pragma once

#include <pthread.h>

#include "harness/intercept/interpose.h"

namespace weft::intercept {

/// Whatever is done with a lock or a condition races with its initialisation and its end. It is
/// noted as an atomic access: tasks may do it at the same time.
inline void used(Task& self, const volatile void* object, std::uintptr_t pc) noexcept {
  engine::MemoryWatch& memory = self.execution->memory();
  const auto address = reinterpret_cast<std::uintptr_t>(object);
  if (!memory.passes_atomic(self, trace::AccessKind::kAtomicWrite, address, 1, pc))
    memory.accessed(self, trace::AccessKind::kAtomicWrite, address, 1, pc);
}

int lock(Task& self, pthread_mutex_t* mutex, std::uint64_t deadline, std::uintptr_t pc) noexcept;
int try_lock(Task& self, pthread_mutex_t* mutex, std::uintptr_t pc) noexcept;
int unlock(Task& self, pthread_mutex_t* mutex, std::uintptr_t pc) noexcept;

int wait(Task& self, pthread_cond_t* condition, pthread_mutex_t* mutex, std::uint64_t deadline,
         std::uintptr_t pc) noexcept;
void signal(Task& self, pthread_cond_t* condition, std::uintptr_t pc) noexcept;
void broadcast(Task& self, pthread_cond_t* condition, std::uintptr_t pc) noexcept;

/// pthread_once; an exception of `initialise` comes through.
void run_once(Task& self, pthread_once_t* word, void (*initialise)(), std::uintptr_t pc);

// Without a schedule point of their own.
int unlock_now(Task& self, pthread_mutex_t* mutex) noexcept;
int relock_now(Task& self, pthread_mutex_t* mutex, std::uintptr_t pc) noexcept;

}  // namespace weft::intercept
