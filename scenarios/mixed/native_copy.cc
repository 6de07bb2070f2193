// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A second copy of the runtime with what programs use of it, hidden in a shared library: the same
// names as in the program that loads it, of other objects.

#include "scenarios/mixed/operations.h"

extern "C" __attribute__((visibility("default"))) void weft_mixed_copy(weft::mixed::Copy* copy) {
  *copy = weft::mixed::WEFT_RT::runtime();
}
