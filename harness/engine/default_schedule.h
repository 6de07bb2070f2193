// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The schedule that is its own default: no departure, nothing to log. The
// warm-up runs it.
#pragma once

#include "harness/engine/strategy.h"

namespace weft::engine {

class DefaultSchedule final : public Strategy {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "default"; }
  Next next_execution(std::uint64_t, std::uint64_t) noexcept override { return Next::kGo; }
  std::size_t pick(const Decision& decision) noexcept override { return decision.fallback; }
  [[nodiscard]] Leeway leeway() const noexcept override { return {trace::kNever, trace::kNever}; }
  std::uint64_t choose(const Choice&) noexcept override { return 0; }
};

}  // namespace weft::engine
