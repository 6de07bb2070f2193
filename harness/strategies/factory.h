// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Strategies by name, as --strategy and WEFT_STRATEGY spell them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "harness/engine/strategy.h"

namespace weft::strategies {

inline constexpr std::string_view kDefaultStrategy = "portfolio";

/// `spec` is name[:key=value,...], or determinism[:spec]; the empty spec is the
/// default. Null for a bad one, with one line in `error` that names the bad part and what there is.
[[nodiscard]] std::unique_ptr<engine::Strategy> make(std::string_view spec, std::string& error);

/// The names with their parameters, one line each, for --help.
[[nodiscard]] std::string names_help();

}  // namespace weft::strategies
