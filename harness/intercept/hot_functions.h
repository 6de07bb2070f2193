// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// libc's functions that tasks pass, looked up once: dlsym() is slow, and it waits for a
// task that is loading a library.
#pragma once

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

#include <cstddef>

namespace weft::intercept {

class TaskMappings;

struct HotFunctions {
  int (*mutex_init)(pthread_mutex_t*, const pthread_mutexattr_t*) = nullptr;
  int (*mutex_trylock)(pthread_mutex_t*) = nullptr;
  int (*mutex_unlock)(pthread_mutex_t*) = nullptr;
  int (*rwlock_tryrdlock)(pthread_rwlock_t*) = nullptr;
  int (*rwlock_trywrlock)(pthread_rwlock_t*) = nullptr;
  int (*rwlock_unlock)(pthread_rwlock_t*) = nullptr;
  int (*sem_trywait)(sem_t*) = nullptr;
  int (*sem_post)(sem_t*) = nullptr;
  int (*spin_trylock)(pthread_spinlock_t*) = nullptr;
  int (*spin_unlock)(pthread_spinlock_t*) = nullptr;
  void (*flockfile)(FILE*) = nullptr;
  int (*ftrylockfile)(FILE*) = nullptr;
  void (*funlockfile)(FILE*) = nullptr;
  int (*fclose)(FILE*) = nullptr;
  int (*mutex_destroy)(pthread_mutex_t*) = nullptr;
  int (*cond_destroy)(pthread_cond_t*) = nullptr;
  int (*rwlock_destroy)(pthread_rwlock_t*) = nullptr;
  int (*barrier_destroy)(pthread_barrier_t*) = nullptr;
  int (*sem_destroy)(sem_t*) = nullptr;
  int (*key_create)(pthread_key_t*, void (*)(void*)) = nullptr;
  int (*key_delete)(pthread_key_t) = nullptr;
  int (*setspecific)(pthread_key_t, const void*) = nullptr;
  int (*getattr_np)(pthread_t, pthread_attr_t*) = nullptr;
  long (*sysconf)(int) = nullptr;
  ssize_t (*read)(int, void*, std::size_t) = nullptr;
  void* (*dlopen)(const char*, int) = nullptr;
  int (*dlclose)(void*) = nullptr;
  decltype(&::dlsym) dlsym = nullptr;  // noexcept, or there would be no tail call
  int (*dladdr)(const void*, Dl_info*) = nullptr;
  TaskMappings* mappings = nullptr;  // in a mapping of its own
};

/// For what a kernel thread calls before it is a task, as ASan's do: to look NAME up would be to
/// wait for a task that is inside the loader.
#define WEFT_HOT_OR_REAL(member, name) \
  (::weft::intercept::hot.member != nullptr ? ::weft::intercept::hot.member : WEFT_REAL(name))

/// Filled in by engine::prepare_interception(), before the snapshot, and constant from then on.
extern HotFunctions hot;

}  // namespace weft::intercept
