// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The calling thread's own stack.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::engine {

/// Return addresses, innermost first; the frame whose address is `from` and all
/// inside it are kept out when it is found (0: keep everything). Works from a
/// signal handler: the unwinder reads .eh_frame and allocates nothing.
std::size_t capture_stack(std::uintptr_t* frames, std::size_t capacity,
                          std::uintptr_t from = 0) noexcept;

}  // namespace weft::engine
