// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A story about the runtime, told twice from one source: against the genuine
// lib/, and with WEFT_BUGGY against a mutant of it. It must pass with the one
// and fail with the other. WEFT_RT is the namespace of the runtime at hand.
//
//   WEFT_SCENARIO(torn_pair, {.name = "context/torn_pair" WEFT_VARIANT,
//                             .expect = expect_with_mutant("always"), ...}) { rt::current() ... }
#pragma once

#include <weft/scenario.h>

namespace WEFT_RT {}
namespace rt = WEFT_RT;

#ifdef WEFT_BUGGY
#define WEFT_VARIANT ".buggy"
#else
#define WEFT_VARIANT ".fixed"
#endif

namespace {

/// The story as this variant of it goes.
[[maybe_unused]] const char* by_variant([[maybe_unused]] const char* buggy,
                                        [[maybe_unused]] const char* fixed) {
#ifdef WEFT_BUGGY
  return buggy;
#else
  return fixed;
#endif
}

/// A finding of `kind` (or of `or_kind`) with the mutant, none with the genuine runtime.
[[maybe_unused]] weft::Expectation expect_with_mutant([[maybe_unused]] const char* kind,
                                                      [[maybe_unused]] const char* or_kind = "") {
#ifdef WEFT_BUGGY
  return weft::must_find(kind, or_kind);
#else
  return weft::must_pass();
#endif
}

}  // namespace
