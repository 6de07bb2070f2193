// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Answers of the system's that would differ from run to run.
#pragma once

#include <sys/types.h>

#include "harness/intercept/interpose.h"

namespace weft::intercept {

[[nodiscard]] std::uint64_t random_number(Task& self, std::uintptr_t pc) noexcept;
void random_bytes(Task& self, void* buffer, std::size_t size, std::uintptr_t pc) noexcept;

/// One for all workers, and one for each task: the root's is the process's, as in Linux.
[[nodiscard]] pid_t process_number() noexcept;
[[nodiscard]] pid_t thread_number(const Task& self) noexcept;

}  // namespace weft::intercept
