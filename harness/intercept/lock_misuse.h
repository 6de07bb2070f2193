// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What POSIX leaves undefined of mutexes and condition variables, and glibc
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

/// All that wait on one condition variable at a time must do so with one mutex.
void require_same_mutex(Task& self, const pthread_cond_t* condition, const pthread_mutex_t* mutex,
                        std::uintptr_t pc) noexcept;

/// Memory that is destroyed or freed must hold no lock that is held and nothing that is waited on.
void require_unused(Task& self, std::uintptr_t begin, std::size_t size, std::uintptr_t pc) noexcept;

}  // namespace weft::intercept
