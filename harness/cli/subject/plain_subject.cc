// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A user's own program without any test framework, for programs_test.cc.

#include <atomic>
#include <cstdio>
#include <thread>

#include <weft/weft.h>

int main() {
  const weft::Result result = weft::explore({.name = "plain", .schedules = 500}, [] {
    std::atomic<int> counter = 0;
    std::thread other([&] { counter = 1; });
    weft::always(counter == 0, "the other thread is late");
    other.join();
  });
  for (const weft::FoundBug& bug : result.findings) std::printf("%s", bug.text.c_str());
  std::printf("%s%s\n", result.error.c_str(), result.divergence.c_str());
  return result.ok() ? 0 : 1;
}
