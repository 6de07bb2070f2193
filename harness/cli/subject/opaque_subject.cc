// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Threads that call a library which is not instrumented, and do not come back.

#include <unistd.h>

#include <thread>

#include <weft/scenario.h>

#include "harness/cli/subject/opaque_library.h"

namespace {

WEFT_SCENARIO(reads, {.name = "opaque/reads", .budget = 1}) {
  int ends[2];
  if (pipe(ends) != 0) return;
  std::thread([&] { opaque::read_from(ends[0]); }).join();
}

WEFT_SCENARIO(waits, {.name = "opaque/waits", .budget = 1}) {
  int word = 0;
  std::thread([&] { opaque::wait_for(&word); }).join();
}

WEFT_SCENARIO(spins, {.name = "opaque/spins", .budget = 1}) {
  bool flag = false;
  std::thread([&] { opaque::spin_on(&flag); }).join();
}

}  // namespace
