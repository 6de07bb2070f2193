// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A library whose constructor and destructor give way to others.

#include <atomic>
#include <mutex>
#include <thread>

namespace {

std::mutex mutex;

struct Prepared {
  Prepared() {
    const std::lock_guard lock(mutex);
    std::this_thread::yield();
    value = 41;
  }
  ~Prepared() {
    const std::lock_guard lock(mutex);
    std::this_thread::yield();
  }
  int value = 0;
} prepared;

}  // namespace

extern "C" __attribute__((visibility("default"))) int weft_plugin_next() {
  static std::atomic<int> calls{0};
  const std::lock_guard lock(mutex);
  return prepared.value + ++calls;
}
