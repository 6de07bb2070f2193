// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What POSIX leaves undefined of locks, condition variables and threads, and glibc
// therefore lets pass. Each of these ends the execution with a finding.
#pragma once

#include <pthread.h>

#include <cstddef>

#include "harness/intercept/interpose.h"

namespace weft::intercept {

/// A default mutex must be unlocked by the task that locked it, and held by who waits with it.
/// The other kinds check that themselves and return EPERM.
void require_held(Task& self, const pthread_mutex_t* mutex, const char* otherwise,
                  std::uintptr_t pc) noexcept;

/// What is unlocked or held while waiting must be held by the task; `otherwise` begins the finding.
/// A lock whose word says that it is taken although no task is known to hold it was taken before
/// the exploration, and may be anybody's: `known_free` says that this is not so.
void require_holder(Task& self, std::uintptr_t lock, bool known_free, const char* otherwise,
                    std::uintptr_t pc) noexcept;

/// Held by the task in either mode. That a writer's unlock() met a reader's lock is not to be seen:
/// pthread has one function for both.
void require_held(Task& self, const pthread_rwlock_t* lock, std::uintptr_t pc) noexcept;

/// `what` happens to a mutex: "a mutex is locked".
void require_not_destroyed(Task& self, const pthread_mutex_t* mutex, const char* what,
                           std::uintptr_t pc) noexcept;

/// pthread_mutex_init() makes no difference to who holds the mutex, but takes it from them.
void require_not_held(Task& self, const pthread_mutex_t* mutex, std::uintptr_t pc) noexcept;

/// Only a thread that has been neither joined nor detached may be; `what` is "a join" or the like.
void require_joinable(Task& self, const Task& thread, const char* what, std::uintptr_t pc) noexcept;

/// All that wait on one condition variable at a time must do so with one mutex.
void require_same_mutex(Task& self, const pthread_cond_t* condition, const pthread_mutex_t* mutex,
                        std::uintptr_t pc) noexcept;

/// Memory that is destroyed or freed must hold no lock that is held and nothing that is waited on.
void require_unused(Task& self, std::uintptr_t begin, std::size_t size, std::uintptr_t pc) noexcept;

}  // namespace weft::intercept
