// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What happens when a thread ends: destructors of thread_local objects and of
// thread-specific keys, as schedule points like all other code of the subject.
//
// Threads are pooled, so glibc's own end-of-thread work would come too late or
// not at all: we keep the lists and run them when the task ends.
#include <threads.h>

#include <cerrno>
#include <utility>

#include "harness/engine/subject.h"
#include "harness/intercept/file_lock.h"
#include "harness/intercept/hot_functions.h"
#include "harness/intercept/mappings.h"
#include "harness/intercept/per_execution.h"
#include "harness/intercept/thread_record.h"

// libc's own, without a look-up. AddressSanitizer asks for its key within each malloc and free, and
// the loader frees what it had to say about a look-up that failed before it begins the next one.
extern "C" void* weft_libc_getspecific(pthread_key_t key);
asm(".symver weft_libc_getspecific, __pthread_getspecific@GLIBC_2.2.5");

namespace weft::intercept {
namespace {

/// Keys are process-wide in glibc, so their table is too. Written before the
/// snapshot by whoever creates keys then, and by tasks, whose keys
/// forget_execution() deletes again. The values that tasks give are ours: libc would find only some
/// of them in the control block of the thread that it takes the caller for.
struct Key {
  void (*destroy)(void*) = nullptr;
  bool exists = false;
  bool made_by_task = false;
  std::uint64_t incarnation = 0;  // a key that was deleted and made anew has no values; 0: not ours
};
Key keys[PTHREAD_KEYS_MAX];
std::size_t made_by_tasks = 0;  // of those that exist

int create_key(pthread_key_t* key, void (*destroy)(void*)) noexcept {
  Task* const self = current_task;
  const int error =
      self == nullptr ? WEFT_REAL(pthread_key_create)(key, destroy) : hot.key_create(key, destroy);
  if (error != 0 || *key >= PTHREAD_KEYS_MAX) return error;
  if (self != nullptr) ++made_by_tasks;
  keys[*key] = {destroy, true, self != nullptr, keys[*key].incarnation + 1};
  return 0;
}

int delete_key(pthread_key_t key) noexcept {
  if (key < PTHREAD_KEYS_MAX && keys[key].made_by_task) --made_by_tasks;
  if (key < PTHREAD_KEYS_MAX) keys[key] = {nullptr, false, false, keys[key].incarnation + 1};
  return current_task == nullptr ? WEFT_REAL(pthread_key_delete)(key) : hot.key_delete(key);
}

/// Null: this thread did not set it.
KeyValue* find_value(const ThreadRecord& record, pthread_key_t key) noexcept {
  KeyValue* entry = record.key_values;
  while (entry != nullptr && entry->key != key) entry = entry->earlier;
  return entry;
}

int set_key(pthread_key_t key, const void* value) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_HOT_OR_REAL(setspecific, pthread_setspecific)(key, value);
  if (key >= PTHREAD_KEYS_MAX || keys[key].incarnation == 0) return hot.setspecific(key, value);
  if (!keys[key].exists) return EINVAL;
  ThreadRecord& record = record_of(*self);
  KeyValue* entry = find_value(record, key);
  if (entry == nullptr) {
    entry = self->execution->arena().make<KeyValue>();
    entry->key = key;
    entry->earlier = record.key_values;
    record.key_values = entry;
  }
  entry->incarnation = keys[key].incarnation;
  entry->value = const_cast<void*>(value);
  return 0;
}

void* get_key(pthread_key_t key) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return weft_libc_getspecific(key);
  const KeyValue* const entry = find_value(record_of(*self), key);
  // Set before the thread was a task, as AddressSanitizer's are.
  if (entry == nullptr) return weft_libc_getspecific(key);
  return entry->incarnation == keys[key].incarnation ? entry->value : nullptr;
}

/// In the order of the keys, as glibc's. A visit may set further ones.
template <typename Visit>
void for_each_value_by_key(ThreadRecord& record, Visit visit) {
  for (pthread_key_t from = 0; from < PTHREAD_KEYS_MAX;) {
    KeyValue* next = nullptr;
    for (KeyValue* entry = record.key_values; entry != nullptr; entry = entry->earlier) {
      if (entry->key >= from && (next == nullptr || entry->key < next->key)) next = entry;
    }
    if (next == nullptr) return;
    from = next->key + 1;
    visit(*next);
  }
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
    for_each_value_by_key(record, [&](KeyValue& entry) {
      const Key& key = keys[entry.key];
      void* const value = std::exchange(entry.value, nullptr);
      if (value == nullptr || key.destroy == nullptr || entry.incarnation != key.incarnation)
        return;
      any = true;
      key.destroy(value);
    });
    if (!any) break;
  }
  run_thread_local_destructors(record);
}

}  // namespace weft::intercept

void weft::engine::forget_execution(Execution& execution) noexcept {
  weft::intercept::unlock_files(execution);
  weft::intercept::give_handlers_back(execution);
  const auto* const state =
      static_cast<const weft::intercept::PerExecution*>(execution.intercept_state);
  if (state != nullptr) weft::intercept::unload_libraries(*state, execution.image());
  // After the destructors of what was unloaded.
  weft::intercept::hot.mappings->unmap_all();
  for (pthread_key_t key = 0; weft::intercept::made_by_tasks != 0; ++key) {
    if (!weft::intercept::keys[key].made_by_task) continue;
    --weft::intercept::made_by_tasks;
    WEFT_REAL(pthread_key_delete)(key);
    weft::intercept::keys[key].exists = weft::intercept::keys[key].made_by_task = false;
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

WEFT_INTERPOSE void* pthread_getspecific(pthread_key_t key) noexcept { return get_key(key); }

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

WEFT_INTERPOSE void* tss_get(tss_t key) { return get_key(key); }
