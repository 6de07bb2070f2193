// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Whether this program is linked with libFuzzer, which then has the main function.
#pragma once

#include <cstddef>
#include <cstdint>

// libFuzzer's entry for programs with a main of their own; always there with it.
extern "C" __attribute__((weak)) int LLVMFuzzerRunDriver(int* argc, char*** argv,
                                                         int (*callback)(const std::uint8_t* data,
                                                                         std::size_t size));

namespace weft {

[[nodiscard]] inline bool has_libfuzzer() noexcept { return &LLVMFuzzerRunDriver != nullptr; }

}  // namespace weft
