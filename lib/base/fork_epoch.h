// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstdint>

namespace weftrt::detail {

// How many forks lie between the process that loaded the runtime and this one. Of the threads that
// a process had when it forked, the child has the forking one alone; whoever keeps note of threads
// keeps note of the epoch as well, to know whether they are still there.
//
// Thread-safety: any thread. Source of the rule: POSIX fork(), 'created with a single thread'.
[[nodiscard]] std::uint32_t fork_epoch() noexcept;

}  // namespace weftrt::detail
