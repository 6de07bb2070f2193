// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A library of operators that programs open; see operators.cc for what they compute.

#define WEFT_MIXED_OPERATOR(name, number)                                                 \
  extern "C" __attribute__((visibility("default"))) int weft_mixed_##name(int argument) { \
    return argument * 100 + (number);                                                     \
  }

WEFT_MIXED_OPERATOR(zero, 3)
WEFT_MIXED_OPERATOR(one, 13)
WEFT_MIXED_OPERATOR(two, 23)
