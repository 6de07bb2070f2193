// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// libc's process-wide random numbers. Their state is libc's, which is not
// restored; so tasks get a generator of the execution's, seeded as the
// standard says a program starts: as by srand(1).
#include <cstdlib>

#include "harness/intercept/per_execution.h"

namespace weft::intercept {
namespace {

/// 31 bits, as random(3) gives. Knuth's MMIX generator (TAOCP vol. 2, 3.3.4, table 1); its high
/// bits.
long next(Task& self) noexcept {
  std::uint64_t& state = per_execution(self).libc_random;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<long>(state >> 33);
}

}  // namespace
}  // namespace weft::intercept

using namespace weft::intercept;

WEFT_INTERPOSE int rand() noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(rand)();
  return static_cast<int>(next(*self));
}

WEFT_INTERPOSE long random() noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(random)();
  return next(*self);
}

WEFT_INTERPOSE void srand(unsigned seed) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(srand)(seed);
  per_execution(*self).libc_random = seed;
}

WEFT_INTERPOSE void srandom(unsigned seed) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(srandom)(seed);
  per_execution(*self).libc_random = seed;
}
