// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A finding on disk before it is on the screen: one directory each, with
// trace.weft, token.weft, report.txt, output.txt and finding.json.
#pragma once

#include <string>
#include <string_view>

#include <weft/weft.h>

#include "harness/cli/session.h"
#include "harness/engine/explorer.h"
#include "harness/trace/collect.h"

namespace weft::cli {

inline constexpr std::string_view kDefaultFindings = "weft-findings";

/// Makes the token, the trace and the report of what was sighted, writes them to a
/// directory under `out` (kDefaultFindings for none), and returns what to print. The
/// directory appears as a whole, in place of an older one of its name. A disk that is
/// full or read-only is one more line in the text; the finding is not lost.
[[nodiscard]] FoundBug make_bug(const engine::Sighting& sighting, const trace::RunFacts& facts,
                                const std::string& out, const Setup& setup);

/// Empty, or why nothing can be kept under `out`: to be known before the exploration.
[[nodiscard]] std::string findings_refusal(const std::string& out, OptionStyle style);

/// "classic-lost_update.buggy-always-1a2b3c4d": fit for a file name whatever the scenario's.
[[nodiscard]] std::string finding_name(const std::string& scenario, const std::string& kind,
                                       std::uint64_t identity);

}  // namespace weft::cli
