// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/intercept/hot_functions.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "harness/engine/subject.h"
#include "harness/intercept/address_sanitizer.h"
#include "harness/intercept/interpose.h"
#include "harness/intercept/mappings.h"

namespace weft::intercept {

HotFunctions hot;

namespace {

/// Never destroyed: the worker only exits.
TaskMappings* make_mappings() noexcept {
  void* const memory = mmap(nullptr, sizeof(TaskMappings), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  WEFT_CHECK(memory != MAP_FAILED, "out of memory for the table of mappings");
  return ::new (memory) TaskMappings;
}

}  // namespace

}  // namespace weft::intercept

void weft::engine::prepare_interception() noexcept {
  weft::intercept::prepare_sanitizer();
  weft::intercept::hot = {
      .mutex_init = WEFT_REAL(pthread_mutex_init),
      .mutex_trylock = WEFT_REAL(pthread_mutex_trylock),
      .mutex_unlock = WEFT_REAL(pthread_mutex_unlock),
      .rwlock_tryrdlock = WEFT_REAL(pthread_rwlock_tryrdlock),
      .rwlock_trywrlock = WEFT_REAL(pthread_rwlock_trywrlock),
      .rwlock_unlock = WEFT_REAL(pthread_rwlock_unlock),
      .sem_trywait = WEFT_REAL(sem_trywait),
      .sem_post = WEFT_REAL(sem_post),
      .spin_trylock =
          reinterpret_cast<int (*)(pthread_spinlock_t*)>(WEFT_REAL(pthread_spin_trylock)),
      .spin_unlock = reinterpret_cast<int (*)(pthread_spinlock_t*)>(WEFT_REAL(pthread_spin_unlock)),
      .flockfile = WEFT_REAL(flockfile),
      .ftrylockfile = WEFT_REAL(ftrylockfile),
      .funlockfile = WEFT_REAL(funlockfile),
      .fclose = WEFT_REAL(fclose),
      .mutex_destroy = WEFT_REAL(pthread_mutex_destroy),
      .cond_destroy = WEFT_REAL(pthread_cond_destroy),
      .rwlock_destroy = WEFT_REAL(pthread_rwlock_destroy),
      .barrier_destroy = WEFT_REAL(pthread_barrier_destroy),
      .sem_destroy = WEFT_REAL(sem_destroy),
      .key_create = WEFT_REAL(pthread_key_create),
      .key_delete = WEFT_REAL(pthread_key_delete),
      .setspecific = WEFT_REAL(pthread_setspecific),
      .getattr_np = WEFT_REAL(pthread_getattr_np),
      .sysconf = WEFT_REAL(sysconf),
      .read = WEFT_REAL(read),
      .dlopen = WEFT_REAL(dlopen),
      .dlclose = WEFT_REAL(dlclose),
      .dlsym = WEFT_REAL(dlsym),
      .dladdr = WEFT_REAL(dladdr),
      .mappings = weft::intercept::make_mappings(),
  };
}
