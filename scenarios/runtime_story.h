// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A story about the runtime, told twice from one source: against the genuine
// lib/ and, compiled with WEFT_RT, against a mutant of it in a namespace of that
// name. The story must pass with the one and fail with the other.
//
//   WEFT_SCENARIO(torn_pair, {.name = "context/torn_pair" WEFT_VARIANT,
//                             .expect = expect_with_mutant("always"), ...}) { rt::current() ... }
#pragma once

#include <weft/scenario.h>

#ifdef WEFT_RT
#define WEFT_VARIANT ".buggy"
#else
#define WEFT_RT weftrt
#define WEFT_VARIANT ".fixed"
#define WEFT_RT_IS_GENUINE
#endif

namespace WEFT_RT {}
namespace rt = WEFT_RT;

namespace {

/// A finding of `kind` with the mutant, none with the genuine runtime.
[[maybe_unused]] weft::Expectation expect_with_mutant([[maybe_unused]] const char* kind) {
#ifdef WEFT_RT_IS_GENUINE
  return weft::must_pass();
#else
  return weft::must_find(kind);
#endif
}

}  // namespace
