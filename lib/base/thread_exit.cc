// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/base/thread_exit.h"

#include <cxxabi.h>
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <new>
#include <system_error>

#include "lib/base/check.h"

// The linker defines one per module; it keeps this module loaded until the registered calls ran.
// A name of the C++ ABI.
extern "C" void* __dso_handle;  // NOLINT(readability-identifier-naming)

namespace weftrt::detail {
namespace {

using Release = void (*)();

// What the calling thread has registered and not called yet, oldest first. In memory that lasts as
// long as the thread, unlike what has a destructor.
struct Pending {
  static constexpr std::size_t kMax = 4;  // the runtime has two: the context's and the stash's

  void add(Release release) noexcept {
    check(count < kMax, "more is to be released at a thread's end than there is room for");
    all[count++] = release;
  }
  void remove(Release release) noexcept {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i)
      if (all[i] != release) all[kept++] = all[i];
    count = kept;
  }

  Release all[kMax] = {};
  std::size_t count = 0;
  bool thread_locals_are_gone = false;
};
constinit thread_local Pending t_pending;

void release_in_key_destructor(void* /*non-null*/) {
  t_pending.thread_locals_are_gone = true;
  while (t_pending.count != 0) t_pending.all[--t_pending.count]();
}

pthread_key_t make_last_resort() {
  pthread_key_t made = 0;
  if (const int error = pthread_key_create(&made, &release_in_key_destructor); error != 0)
    throw std::system_error(error, std::generic_category(), "no thread-specific key is left");
  return made;
}

pthread_key_t last_resort() {
  static const pthread_key_t key = make_last_resort();
  return key;
}

// relaxed: what runs while the module is being unloaded, at process exit above all, may see either.
constinit std::atomic<bool> g_key_is_gone{false};

// Makes the key when the module is loaded: keys' destructors are called in the order in which the
// keys were made, so that ours comes before those of most others, and notes that it is their turn.
// Deletes it when the module is unloaded, because its destructor is then gone.
struct KeyOfThisModule {
  KeyOfThisModule() { (void)last_resort(); }
  ~KeyOfThisModule() {
    g_key_is_gone.store(true, std::memory_order_relaxed);
    pthread_key_delete(last_resort());
  }
  KeyOfThisModule(const KeyOfThisModule&) = delete;
  KeyOfThisModule& operator=(const KeyOfThisModule&) = delete;
};
const KeyOfThisModule g_key;

void release_with_thread_locals(void* registered) {
  const auto release = reinterpret_cast<Release>(registered);
  t_pending.remove(release);
  release();
}

}  // namespace

void at_thread_exit(Release release) {
  if (!g_key_is_gone.load(std::memory_order_relaxed) &&
      pthread_setspecific(last_resort(), &t_pending) != 0)
    throw std::bad_alloc();
  // A function pointer passes through void* unchanged on every platform with this ABI.
  if (!t_pending.thread_locals_are_gone &&
      abi::__cxa_thread_atexit(&release_with_thread_locals, reinterpret_cast<void*>(release),
                               static_cast<void*>(&__dso_handle)) != 0)
    throw std::bad_alloc();
  t_pending.add(release);
}

}  // namespace weftrt::detail
