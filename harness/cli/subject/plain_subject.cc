// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A user's own program without any test framework, for programs_test.cc. It is not
// position-independent.

#include <sys/single_threaded.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include <weft/weft.h>

int main() {
  const weft::Result result = weft::explore({.name = "plain", .schedules = 500}, [] {
    // Of libc, and a part of this program's image: see its target.
    weft::always(__libc_single_threaded == 0, "libstdc++ may count references without atomics");
    std::atomic<int> counter = 0;
    std::thread other([&] { counter = 1; });
    weft::always(counter == 0, "the other thread is late");
    other.join();
  });
  for (const weft::FoundBug& bug : result.findings) std::printf("%s", bug.text.c_str());
  std::printf("%s%s\n", result.error.c_str(), result.divergence.c_str());
  return result.ok() ? 0 : 1;
}
