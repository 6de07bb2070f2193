// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The replay token: one word that a failure prints and that brings the failure back. Its text is
// specified in docs/replay-token.md. Supervisor side.
//
// A token holds what the scenario's own code does not determine: the deviations from the default
// schedule, and who they speak of. It says nothing about how the schedule was found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/trace/choice.h"
#include "harness/trace/deviation_log.h"
#include "harness/trace/finding.h"
#include "harness/trace/outcome.h"

namespace weft::trace {

inline constexpr std::string_view kTokenPrefix = "weft2.";
/// Read as well; its deviations are written out one by one.
inline constexpr std::string_view kOldTokenPrefix = "weft1.";
inline constexpr std::size_t kMaxScenarioName = 4096;

struct Token {
  std::string scenario = {};
  std::uint64_t fingerprint = 0;             // of the build that made it
  bool memory_points = true;                 // plain accesses may be schedule points
  bool races = true;                         // races and uses of freed memory are findings
  bool leaks = true;                         // leaked memory and threads are findings
  std::uint64_t step_cap = 0;                // steps after which the execution was a finding
  FindingKind finding = FindingKind::kNone;  // what the replay should show
  StepIndex steps = 0;                       // and after how many steps,
  std::uint64_t final_digest = 0;            // with which history digest
  std::vector<TaskRow> tasks = {};           // those the deviations name, and their ancestors
  DeviationLog deviations = {};              // indices refer to `tasks`

  bool operator==(const Token&) const = default;
};

/// Replaces the tasks and deviations of `token` by those of an execution, keeping only the rows of
/// `table` that some deviation needs. Fails where a deviation names no row: the log of a worker
/// whose memory the subject overwrote.
[[nodiscard]] Outcome<Token> with_deviations(Token token, std::span<const TaskRow> table,
                                             std::span<const Deviation> deviations);
/// The same from a log's bytes (choice_code.h), read twice and never held expanded.
[[nodiscard]] Outcome<Token> with_deviations(Token token, std::span<const TaskRow> table,
                                             std::string_view log);

/// The token's text: one word, no white space. Requires consistent indices, as with_deviations()
/// and parse_token() make them.
[[nodiscard]] std::string format_token(const Token& token);

/// Reads a token's text; white space anywhere inside is ignored. The error says which part is wrong
/// and why.
[[nodiscard]] Outcome<Token> parse_token(std::string_view text);

/// True for text that means to be a token of some version rather than a file name.
[[nodiscard]] bool looks_like_token(std::string_view text) noexcept;

}  // namespace weft::trace
