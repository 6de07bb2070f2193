// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// errno belongs to a thread, whoever runs the threads.

#include <unistd.h>
#include <cassert>
#include <cerrno>
#include <mutex>
#include <thread>

#include <weft/scenario.h>

namespace {

void fail_differently(int own, std::mutex& mutex) {
  errno = own;
  {
    const std::lock_guard lock(mutex);
    assert(errno == own);
  }
  assert(::close(-1) == -1);
  std::this_thread::yield();
  assert(errno == EBADF);
}

WEFT_SCENARIO(error_number, {.name = "facilities/error_number",
                             .summary = "each thread sets an errno of its own",
                             .expect = weft::must_pass(),
                             .budget = 300}) {
  std::mutex mutex;
  std::thread other([&] { fail_differently(ENOENT, mutex); });
  fail_differently(ERANGE, mutex);
  other.join();
}

}  // namespace
