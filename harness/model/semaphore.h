// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// POSIX semaphores, read from the object itself.
#pragma once

#include <semaphore.h>

#include <cstdint>
#include <cstring>

namespace weft::model {

/// glibc 2.36 (nptl/sem_post.c) on 64-bit machines: a word of 64 bits, whose lower half is the
/// value and whose upper half counts who waits inside glibc; under us nobody does.
[[nodiscard]] inline std::uint32_t semaphore_value(const sem_t& semaphore) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, &semaphore, sizeof word);
  return static_cast<std::uint32_t>(word);
}

}  // namespace weft::model
