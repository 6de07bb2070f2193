// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Two owners of one counted object. The buggy owner looks at the count once more
// after it gave up its share: an atomic access, which the compiler gives to the
// harness and not to AddressSanitizer.

#include <atomic>
#include <thread>

#include <weft/scenario.h>

namespace {

struct Shared {
  std::atomic<int> owners = 2;
};

int release_and_look(Shared* shared) {
  if (--shared->owners != 0) return shared->owners.load();
  delete shared;
  return 0;
}

int release_knowing(Shared* shared) {
  const int left = --shared->owners;
  if (left == 0) delete shared;
  return left;
}

void release_by_two(int (*how)(Shared*)) {
  auto* const shared = new Shared;
  std::thread other(how, shared);
  how(shared);
  other.join();
}

WEFT_SCENARIO(freed_counter_buggy, {.name = "memory/freed_counter.buggy",
                                    .summary = "a count is read after its owner's free",
                                    .expect = weft::must_find("memory_error", "data_race"),
                                    .budget = 500}) {
  release_by_two(&release_and_look);
}

WEFT_SCENARIO(freed_counter_fixed, {.name = "memory/freed_counter.fixed",
                                    .summary = "the count is looked at as it is lowered",
                                    .expect = weft::must_pass(),
                                    .budget = 500}) {
  release_by_two(&release_knowing);
}

}  // namespace
