// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Scenarios and options are the same with and without an engine: this backend is
// a library of its own, so it compiles them once more.

#include "harness/api/options.cc"    // NOLINT(bugprone-suspicious-include)
#include "harness/api/scenarios.cc"  // NOLINT(bugprone-suspicious-include)
