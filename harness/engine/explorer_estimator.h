// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Approximately how many different schedules were seen, in bounded memory:
// the supervisor's half of a HyperLogLog (Flajolet, Fusy, Gandouet, Meunier,
// AofA 2007), whose registers the workers raise. With 64-bit digests the paper's
// correction for large ranges is not needed.
#pragma once

#include <cstdint>
#include <span>

namespace weft::engine {

/// Raises each register of `into` to that of `from`: the union of both sets.
void merge_registers(std::span<std::uint8_t> into, std::span<const std::uint8_t> from) noexcept;

/// Estimated number of distinct values; the standard error is 1.04 / sqrt(registers).
[[nodiscard]] double estimate_distinct(std::span<const std::uint8_t> registers) noexcept;

}  // namespace weft::engine
