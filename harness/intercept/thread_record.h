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

/// What a thread made of a thread-specific key.
struct KeyValue {
  pthread_key_t key = 0;
  std::uint64_t incarnation = 0;  // the key's, when it was set
  void* value = nullptr;
  KeyValue* earlier = nullptr;
};

/// Lives in the execution's arena; one per thread task.
struct ThreadRecord {
  void* (*start)(void*) = nullptr;
  void* argument = nullptr;
  void* result = nullptr;
  ThreadLocalDestructor* destructors = nullptr;  // latest first
  KeyValue* key_values = nullptr;                // one for each key that it set, latest first
  std::uintptr_t frame = 0;                      // where pthread_exit unwinds to
  void* exit_buffer[5] = {};                     // __builtin_setjmp's
  char name[16] = {};                            // with its terminating zero, as in Linux
  std::uint64_t outside = 0;                     // state of its random numbers; 0: none yet
  bool mask_changed = false;                     // of its signals, by the thread itself
  std::uint64_t mask = 0;                        // before, as the kernel has it
};

/// Of a thread that has ended: its kernel thread is another's next.
void give_mask_back(const ThreadRecord& record) noexcept;

[[nodiscard]] inline ThreadRecord& record_of(Task& task) noexcept {
  return *static_cast<ThreadRecord*>(task.record);
}

/// The live, unjoined task whose pthread_self() is `thread`; null for a thread that is no task.
[[nodiscard]] Task* task_of(Execution& execution, pthread_t thread) noexcept;
/// Likewise, also of one that has been joined: no two tasks of an execution have the same.
[[nodiscard]] Task* task_ever_of(Execution& execution, pthread_t thread) noexcept;

// pthread's functions of those names, with their error numbers.
int create(Task& self, pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
           void* argument, std::uintptr_t pc) noexcept;
int join(Task& self, pthread_t thread, void** result, std::uint64_t deadline,
         std::uintptr_t pc) noexcept;
int detach(Task& self, pthread_t thread, std::uintptr_t pc) noexcept;
[[noreturn]] void exit_thread(Task& self, void* result);

/// A task's code from first to last: the subject's function, its thread_local and
/// key destructors, and its end.
void run_thread(Task& self);

/// Destructors of thread_local objects, then of keys, as glibc's threads do it.
void run_exit_destructors(Task& self);

}  // namespace weft::intercept
