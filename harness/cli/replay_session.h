// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A token followed again, each time in a fresh worker process.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <weft/weft.h>

#include "harness/cli/session.h"
#include "harness/trace/token.h"

namespace weft::cli {

struct ReplayResult {
  std::uint64_t times = 0;     // asked for
  std::uint64_t same = 0;      // showed the token's finding, after as many steps
  std::uint64_t nothing = 0;   // finished without one
  std::uint64_t other = 0;     // showed another finding
  std::uint64_t diverged = 0;  // left the recorded path
  FoundBug bug;                // what the first replay with a finding showed, with its report
  std::string divergence;      // of the first that diverged: step, expected, actual
  std::string difference;      // of the first that ended otherwise: what it did instead
  std::uint64_t steps = 0;     // of the first replay
  bool in_warm_up = false;     // which ended there
  std::uint64_t applied = 0;   // decisions of the token that it followed
  std::uint64_t skipped = 0;   // and those that no longer applied (lenient only)
  std::string followed;        // the same in words (lenient only)
  std::string output;          // what the test wrote in the first replay
  std::string warning;         // another build's token
  std::string trace_failure;   // why there is no trace file, where one was asked for
  std::string error;           // user error
  std::string internal_error;
};

/// `options` with what the token fixes taken from it.
[[nodiscard]] Options options_of(const trace::Token& token, Options options);

/// `token.scenario` must be what `body` is. `options` are made those of the token. Every step of the
/// first replay goes to `trace_file`, if one is named.
[[nodiscard]] ReplayResult replay(const trace::Token& token, Options options, const Setup& setup,
                                  const std::function<void()>& body, std::uint64_t times,
                                  const std::string& trace_file = {});

/// The same as weft::explore() returns it, for a test that was given a token.
[[nodiscard]] Result as_result(ReplayResult replay);

}  // namespace weft::cli
