// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the interception layer remembers of a thread of the subject.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>

#include "harness/intercept/interpose.h"

namespace weft::intercept {

/// A destructor registered for a thread_local object.
struct ThreadLocalDestructor {
  void (*destroy)(void*) = nullptr;
  void* object = nullptr;
  ThreadLocalDestructor* earlier = nullptr;
};

/// Lives in the execution's arena; one per thread task.
struct ThreadRecord {
  void* (*start)(void*) = nullptr;
  void* argument = nullptr;
  void* result = nullptr;
  ThreadLocalDestructor* destructors = nullptr;        // latest first
  std::uint64_t keys_set[PTHREAD_KEYS_MAX / 64] = {};  // keys that this thread gave a value
  std::uintptr_t frame = 0;                            // where pthread_exit unwinds to
  void* exit_buffer[5] = {};                           // __builtin_setjmp's
};

[[nodiscard]] inline ThreadRecord& record_of(Task& task) noexcept {
  return *static_cast<ThreadRecord*>(task.record);
}

/// A task's code from first to last: the subject's function, its thread_local and
/// key destructors, and its end.
void run_thread(Task& self);

/// Destructors of thread_local objects, then of keys, as glibc's threads do it.
void run_exit_destructors(Task& self);

}  // namespace weft::intercept
