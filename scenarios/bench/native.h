// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How a program of this directory, compiled without instrumentation, comes to
// the benchmark.
#pragma once

#include <string_view>

namespace weft::bench {

/// Registers native/PROGRAM for "bench/PROGRAM.fixed" and nothing for any other
/// name: a buggy program would end the process. Call at start-up; returns true.
bool register_native(std::string_view name, void (*run)());

}  // namespace weft::bench
