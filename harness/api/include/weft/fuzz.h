// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// libFuzzer decides the schedule, led by the coverage of the code under test.
//
//   extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
//     weft::fuzz_one(data, size, [] { ... threads, locks, assertions ... });
//     return 0;
//   }
//
// Build it with weft_add_fuzzer(). Executions run in libFuzzer's own process, on the alias
// executor; docs/fuzzing.md has what works and what does not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include <weft/weft.h>

#pragma GCC visibility push(default)
namespace weft {

/// One execution of `body` under the schedule that the bytes [data, data + size) tell; no bytes, or
/// too few, go on with the default schedule. A body that wants input of its own takes a part of
/// libFuzzer's and leaves the rest to the schedule.
///
/// The first call settles the process: what the program's variables hold then is what every
/// execution starts from, and `options` are looked at no more. Of these count name, max_steps,
/// memory_points, races, leaks, spurious_wakeups and allocation_failures.
///
/// A finding is printed with the line that replays it, and ends the process by abort(), so that
/// libFuzzer keeps the input. Call it from LLVMFuzzerTestOneInput alone.
void fuzz_one(const std::uint8_t* data, std::size_t size, const std::function<void()>& body,
              const Options& options = {});

}  // namespace weft
#pragma GCC visibility pop
