// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::trace {

/// XXH64 with seed 0: guards tokens and trace sections against accidents, not against intent.
[[nodiscard]] std::uint64_t checksum(std::string_view bytes) noexcept;

}  // namespace weft::trace
