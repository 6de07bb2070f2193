// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Scenarios: named stories with a buggy and a fixed variant, each with what is
// expected of it and the budget within which that must show.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/api/weft.h"
#include "harness/trace/finding.h"

namespace weft {

/// What an honest run must show.
struct Expectation {
  bool must_find = false;
  trace::FindingKind kind = trace::FindingKind::kNone;  // kNone with must_find: any kind
};
[[nodiscard]] constexpr Expectation must_find(trace::FindingKind kind) { return {true, kind}; }
[[nodiscard]] constexpr Expectation must_pass() { return {}; }

struct Scenario {
  std::string name;        // "context/torn_pair.buggy": unique, variant included
  std::string summary;     // one line: the story
  Expectation expect;
  std::uint64_t budget = 1000;   // executions
  std::string strategy = "portfolio";
  const char* source = "";
  int line = 0;
  void (*body)() = nullptr;
  bool canary = false;     // must fail: proves that the oracle works
};

/// Registered scenarios, in name order.
[[nodiscard]] const std::vector<Scenario>& scenarios();

/// Adds one; a name already taken ends the program with exit code 2.
bool register_scenario(Scenario scenario);

}  // namespace weft

/// Registers a scenario at start-up:
///   WEFT_SCENARIO(lost_update_buggy, {.name = "classic/lost_update.buggy",
///       .summary = "...", .expect = weft::must_find(weft::trace::FindingKind::kAlways),
///       .budget = 100}) { ...body... }
#define WEFT_SCENARIO(identifier, ...)                                              \
  static void identifier();                                                        \
  [[maybe_unused]] static const bool identifier##_registered = [] {                 \
    ::weft::Scenario scenario = __VA_ARGS__;                                        \
    scenario.source = __FILE__;                                                     \
    scenario.line = __LINE__;                                                       \
    scenario.body = &identifier;                                                    \
    return ::weft::register_scenario(std::move(scenario));                          \
  }();                                                                              \
  static void identifier()
