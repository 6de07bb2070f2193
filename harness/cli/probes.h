// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What `weft doctor` finds out about the program and the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace weft::cli {

/// Translation units of the executable that report their accesses to us, counted
/// by the constructor that the compiler gives each; nothing where the symbol table is gone.
[[nodiscard]] std::optional<std::uint64_t> instrumented_units();

/// Nanoseconds to wake another thread on the same processor and go to sleep, by
/// futex: what the baton executor pays per switch. 0 where it could not be measured.
[[nodiscard]] double measure_hand_off();

/// Seconds to fork this process and reap the child; 0 where that is refused.
[[nodiscard]] double measure_fork();

/// Processors in this process's affinity mask.
[[nodiscard]] unsigned usable_processors();

/// Whether the kernel tells us the system call of a child's thread.
[[nodiscard]] bool can_observe_system_calls();

struct CudaFacts {
  std::string toolkit;  // "13.0 in /usr/local/cuda"; empty: none
  bool driver = false;
};
[[nodiscard]] CudaFacts find_cuda();

}  // namespace weft::cli
