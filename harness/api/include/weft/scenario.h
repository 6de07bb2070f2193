// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Scenarios: named stories with a buggy and a fixed variant, each with what is
// expected of it and the budget within which that must show.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/weft.h>

// The harness hides all but this from the programs that link it.
#pragma GCC visibility push(default)
namespace weft {

/// What an honest run must show.
struct Expectation {
  bool must_find = false;
  std::string kind = {};     // "deadlock", "assertion", ... as `weft run --json` prints it
  std::string or_kind = {};  // the same bug where the schedule has its sides the other way round

  [[nodiscard]] bool allows(std::string_view found) const {
    return must_find && !found.empty() && (found == kind || found == or_kind);
  }
};
[[nodiscard]] inline Expectation must_find(std::string kind, std::string or_kind = {}) {
  return {true, std::move(kind), std::move(or_kind)};
}
[[nodiscard]] inline Expectation must_pass() { return {}; }

struct Scenario {
  std::string name = {};     // "context/torn_pair.buggy": unique, variant included
  std::string summary = {};  // one line: the story
  Expectation expect = {};
  std::uint64_t budget = 1000;  // executions
  std::string strategy = "portfolio";
  unsigned spurious_wakeups = 0;     // as in Options
  unsigned allocation_failures = 0;  // as in Options
  std::string suppressions = {};     // a file of findings that are no fault of the story's
  const char* source = "";
  int line = 0;
  void (*body)() = nullptr;
  bool canary = false;  // must fail: proves that the oracle works
};

/// Registered scenarios, in name order. Thread-safety: none; registration happens
/// before main().
[[nodiscard]] const std::vector<Scenario>& scenarios();

/// Adds one; a name already taken ends the program with exit code 2.
bool register_scenario(Scenario scenario);

/// The command line (list, run, check, replay, report, doctor) over the registered
/// scenarios; returns the exit status. weft::main is a library whose main() is this.
int main(int argc, char** argv);

}  // namespace weft
#pragma GCC visibility pop

/// Registers a scenario at start-up:
///   WEFT_SCENARIO(lost_update_buggy, {.name = "classic/lost_update.buggy",
///       .summary = "...", .expect = weft::must_find("always"),
///       .budget = 100}) { ...body... }
#define WEFT_SCENARIO(identifier, ...)                              \
  static void identifier();                                         \
  [[maybe_unused]] static const bool identifier##_registered = [] { \
    ::weft::Scenario scenario = __VA_ARGS__;                        \
    scenario.source = __FILE__;                                     \
    scenario.line = __LINE__;                                       \
    scenario.body = &identifier;                                    \
    return ::weft::register_scenario(std::move(scenario));          \
  }();                                                              \
  static void identifier()
