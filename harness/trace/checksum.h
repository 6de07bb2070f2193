// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace weft::trace {

/// XXH64 with seed 0: guards tokens and trace sections against accidents, not against intent.
[[nodiscard]] std::uint64_t checksum(std::string_view bytes) noexcept;

/// The same of bytes that come in pieces.
class RunningChecksum {
 public:
  RunningChecksum();
  ~RunningChecksum();
  void add(std::string_view bytes) noexcept;
  [[nodiscard]] std::uint64_t value() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weft::trace
