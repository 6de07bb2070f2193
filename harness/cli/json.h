// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The shapes of what --json prints: read by other programs, so fields are added, never renamed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include <weft/scenario.h>
#include <weft/weft.h>

#include "harness/trace/collect.h"

namespace weft::cli {

/// Keeps the order in which fields are set; people read it too.
using Json = nlohmann::ordered_json;

/// {kind, message, token, steps, preemptions, execution, hits, directory}
[[nodiscard]] Json to_json(const FoundBug& bug);

/// {name, executions, seconds, findings, ...}
[[nodiscard]] Json to_json(const std::string& name, const Result& result);

/// {entry, place, reason, hits}
[[nodiscard]] Json to_json(const Suppression& suppression);

/// {name, expect, budget, source, summary}
[[nodiscard]] Json to_json(const Scenario& scenario);

/// finding.json: the finding with the run that it comes from.
[[nodiscard]] Json finding_json(const FoundBug& bug, const trace::RunFacts& facts);

/// "must_find deadlock", "must_find data_race or use_after_free", "must_pass".
[[nodiscard]] std::string expectation_text(const Expectation& expect);

/// Text of the subject may be any bytes; what is not UTF-8 is replaced.
[[nodiscard]] std::string dump(const Json& json);

}  // namespace weft::cli
