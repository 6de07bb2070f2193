// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/engine/explorer_estimator.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace weft::engine {

void merge_registers(std::span<std::uint8_t> into, std::span<const std::uint8_t> from) noexcept {
  for (std::size_t i = 0; i < into.size() && i < from.size(); ++i) {
    into[i] = std::max(into[i], from[i]);
  }
}

double estimate_distinct(std::span<const std::uint8_t> registers) noexcept {
  if (registers.empty()) return 0;
  const auto count = static_cast<double>(registers.size());
  double sum = 0;
  std::size_t empty = 0;
  for (const std::uint8_t rank : registers) {
    sum += std::ldexp(1.0, -static_cast<int>(rank));
    if (rank == 0) ++empty;
  }
  const double alpha = 0.7213 / (1 + 1.079 / count);  // for 128 registers and more: figure 3
  const double raw = alpha * count * count / sum;
  // Linear counting below 5/2 m, where the raw estimate is biased (figure 3, 'small range').
  if (raw <= 2.5 * count && empty != 0) {
    return count * std::log(count / static_cast<double>(empty));
  }
  return raw;
}

}  // namespace weft::engine
