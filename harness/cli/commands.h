// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The commands of `weft`, one file each. A command is added to the parser by
// add_NAME(), and when it is the one given, its `run` returns the exit status.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <weft/scenario.h>

#include "harness/base/process.h"
#include "harness/cli/session.h"

namespace weft::cli {

/// Exit statuses; STYLE.md, 'Errors: four kinds, never mixed'.
enum ExitStatus : int {
  kExitOk = 0,
  kExitFinding = 1,
  kExitUserError = 2,
  kExitInternal = 3,
  kExitDivergence = 4,
  kExitNothingRan = 5,
  kExitInterrupted = 130,  // as a shell reports a program that SIGINT ended
};

/// What all commands share.
struct Context {
  std::string program;       // as it was called, for the lines to paste
  std::function<int()> run;  // of the command given
  ReexecResult reexec = ReexecResult::kAlreadyOff;
};

void add_list(CLI::App& app, Context& context);
void add_run(CLI::App& app, Context& context);
void add_check(CLI::App& app, Context& context);
void add_replay(CLI::App& app, Context& context);
void add_report(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
void add_hash(CLI::App& app, Context& context);

/// Options that `run`, `check` and `replay` take as flags of the same names.
/// Bound to `given`; apply_given() copies those that were on the command line.
class ExplorationFlags {
 public:
  /// `names`: which fields of options::fields() this command offers.
  void add(CLI::App& command, const std::vector<std::string>& names);
  /// The environment, then what was given. An error names the flag and the mend.
  [[nodiscard]] std::string apply(Options& options) const;
  /// Whether `field` is one of those that add() was given.
  [[nodiscard]] bool offers(std::string_view field) const;

 private:
  struct Given {
    std::string field;
    std::string value;
    CLI::Option* option = nullptr;
  };
  std::vector<std::unique_ptr<Given>> given_;
};

/// Scenarios that match any of `patterns`, in name order; all of them for none.
[[nodiscard]] std::vector<const Scenario*> matching(const std::vector<std::string>& patterns);

/// Those of `patterns` that match no scenario.
[[nodiscard]] std::vector<std::string> unmatched(const std::vector<std::string>& patterns);

/// Empty, or what is wrong with the flags, the environment or what they name: one line with
/// the mend. To be asked before the first scenario.
[[nodiscard]] std::string mistake_in(const ExplorationFlags& flags);

/// What a scenario is explored with: its own strategy and budget, overruled by the
/// environment and `flags`, in which there is no mistake. A limit on time alone replaces the
/// budget.
[[nodiscard]] Options options_for(const Scenario& scenario, const ExplorationFlags& flags);

[[nodiscard]] Setup setup_of(const Context& context);

/// One line on standard error; returns `status`.
int complain(const std::string& message, ExitStatus status = kExitUserError);

/// complain(), naming what exists, for patterns that match nothing; with `json` also an empty
/// result.
int nothing_matched(const Context& context, const std::vector<std::string>& patterns,
                    bool json = false);

}  // namespace weft::cli
