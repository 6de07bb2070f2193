// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a strategy may conclude from an operation's kind alone.
#pragma once

#include "harness/base/prng.h"
#include "harness/engine/strategy.h"
#include "harness/trace/operation.h"

namespace weft::strategies {

/// The task says that it waits for others to get on.
[[nodiscard]] constexpr bool gives_way(trace::OpKind kind) noexcept {
  return kind == trace::OpKind::kYield || kind == trace::OpKind::kSleep;
}

using trace::commutes;

/// Whether it may make another task enabled.
[[nodiscard]] constexpr bool enables_none(trace::OpKind kind) noexcept {
  return trace::is_plain(kind) ||
         (kind >= trace::OpKind::kAtomicLoad && kind <= trace::OpKind::kFence);
}

/// Something unlikely happens once in so many times: seldom, so that the executions are many in
/// which one of several places alone was hit.
inline constexpr std::uint64_t kUnlikely = 16;

/// A number for a choice that is not of a task's turn.
[[nodiscard]] inline std::uint64_t draw_number(Prng& prng, const engine::Choice& choice) noexcept {
  if (trace::is_unlikely(choice.kind)) return prng.below(kUnlikely) == 0 ? 1 : 0;
  return choice.count == 0 ? prng.next() : prng.below(choice.count);
}

}  // namespace weft::strategies
