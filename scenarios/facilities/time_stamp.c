/* Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* The intrinsics of outside.cc in C. */
#include <x86intrin.h>

unsigned long long time_stamp_in_c(void) {
  unsigned long long stamp = __rdtsc();
  return stamp;
}
