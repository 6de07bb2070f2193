// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What happens when a thread ends: destructors of thread_local objects and of
// thread-specific keys, as schedule points like all other code of the subject.
//
// Threads are pooled, so glibc's own end-of-thread work would come too late or
// not at all: we keep the lists and run them when the task ends.
#include <threads.h>

#include "harness/engine/subject.h"
#include "harness/intercept/file_lock.h"
#include "harness/intercept/hot_functions.h"
#include "harness/intercept/mappings.h"
#include "harness/intercept/per_execution.h"
#include "harness/intercept/thread_record.h"

namespace weft::intercept {
namespace {

/// Keys are process-wide in glibc, so their table is too. Written before the
/// snapshot by whoever creates keys then, and by tasks, whose keys
/// forget_execution() deletes again.
struct Key {
  void (*destroy)(void*) = nullptr;
  bool made_by_task = false;
};
Key keys[PTHREAD_KEYS_MAX];

template <typename Visit>
void for_each_key_set(ThreadRecord& record, Visit visit) {
  for (std::size_t word = 0; word < std::size(record.keys_set); ++word) {
    for (std::uint64_t bits = record.keys_set[word]; bits != 0; bits &= bits - 1) {
      visit(
          static_cast<pthread_key_t>(word * 64 + static_cast<std::size_t>(__builtin_ctzll(bits))));
    }
  }
}

int create_key(pthread_key_t* key, void (*destroy)(void*)) noexcept {
  Task* const self = current_task;
  const int error =
      self == nullptr ? WEFT_REAL(pthread_key_create)(key, destroy) : hot.key_create(key, destroy);
  if (error == 0 && *key < PTHREAD_KEYS_MAX) keys[*key] = {destroy, self != nullptr};
  return error;
}

int delete_key(pthread_key_t key) noexcept {
  if (key < PTHREAD_KEYS_MAX) keys[key] = {};
  return current_task == nullptr ? WEFT_REAL(pthread_key_delete)(key) : hot.key_delete(key);
}

int set_key(pthread_key_t key, const void* value) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_HOT_OR_REAL(setspecific, pthread_setspecific)(key, value);
  const int error = hot.setspecific(key, value);
  if (error == 0) record_of(*self).keys_set[key / 64] |= std::uint64_t{1} << (key % 64);
  return error;
}

void run_thread_local_destructors(ThreadRecord& record) {
  // A destructor may touch, and so construct, further thread_local objects.
  while (ThreadLocalDestructor* const latest = record.destructors) {
    record.destructors = latest->earlier;
    latest->destroy(latest->object);
  }
}

}  // namespace

void run_exit_destructors(Task& self) {
  ThreadRecord& record = record_of(self);
  run_thread_local_destructors(record);
  // POSIX: destructors may set values again; give up after so many rounds.
  for (int round = 0; round < PTHREAD_DESTRUCTOR_ITERATIONS; ++round) {
    bool any = false;
    for_each_key_set(record, [&](pthread_key_t key) {
      void* const value = pthread_getspecific(key);
      if (value == nullptr || keys[key].destroy == nullptr) return;
      any = true;
      hot.setspecific(key, nullptr);
      keys[key].destroy(value);
    });
    if (!any) break;
  }
  run_thread_local_destructors(record);
  // Values without a destructor must not reach this pooled thread's next task.
  for_each_key_set(record, [](pthread_key_t key) { hot.setspecific(key, nullptr); });
}

}  // namespace weft::intercept

void weft::engine::forget_execution(Execution& execution) noexcept {
  weft::intercept::unlock_files(execution);
  if (execution.intercept_state != nullptr) {
    weft::intercept::unload_libraries(
        *static_cast<const weft::intercept::PerExecution*>(execution.intercept_state),
        execution.image());
  }
  // After the destructors of what was unloaded.
  weft::intercept::hot.mappings->unmap_all();
  for (pthread_key_t key = 0; key < PTHREAD_KEYS_MAX; ++key) {
    if (!weft::intercept::keys[key].made_by_task) continue;
    WEFT_REAL(pthread_key_delete)(key);
    weft::intercept::keys[key] = {};
  }
}

using namespace weft::intercept;

WEFT_INTERPOSE int pthread_key_create(pthread_key_t* key, void (*destroy)(void*)) noexcept {
  return create_key(key, destroy);
}

WEFT_INTERPOSE int pthread_key_delete(pthread_key_t key) noexcept { return delete_key(key); }

WEFT_INTERPOSE int pthread_setspecific(pthread_key_t key, const void* value) noexcept {
  return set_key(key, value);
}

// C11's, which glibc does not lead through the above.

WEFT_INTERPOSE int tss_create(tss_t* key, tss_dtor_t destroy) {
  return create_key(key, destroy) == 0 ? thrd_success : thrd_error;
}

WEFT_INTERPOSE void tss_delete(tss_t key) { delete_key(key); }

WEFT_INTERPOSE int tss_set(tss_t key, void* value) {
  return set_key(key, value) == 0 ? thrd_success : thrd_error;
}

extern "C" int __cxa_thread_atexit_impl(void (*)(void*), void*, void*);

WEFT_INTERPOSE int __cxa_thread_atexit_impl(void (*destroy)(void*), void* object, void* module) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(__cxa_thread_atexit_impl)(destroy, object, module);
  ThreadRecord& record = record_of(*self);
  auto* const entry = self->execution->arena().make<ThreadLocalDestructor>();
  *entry = {destroy, object, record.destructors};
  record.destructors = entry;
  return 0;
}
