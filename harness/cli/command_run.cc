// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "harness/cli/commands.h"
#include "harness/cli/json.h"
#include "harness/cli/suppression_use.h"
#include "harness/cli/terminal.h"
#include "harness/engine/explorer_interrupt.h"
#include "harness/strategies/factory.h"

namespace weft::cli {
namespace {

struct RunCommand {
  std::vector<std::string> patterns;
  bool json = false;
  ExplorationFlags flags;
};

void print_result(const std::string& name, const Result& result) {
  for (const FoundBug& bug : result.findings) fmt::print("{}\n", bug.text);
  for (const std::string& mark : result.never) {
    fmt::print("{}: never in {}: {}\n", name, counted(result.executions, "execution"), mark);
  }
  const bool clean = result.findings.empty();
  fmt::print("{}: {} in {}, about {} distinct, {}{}{}\n", styled(name, Style::kBold, STDOUT_FILENO),
             styled(clean ? "no finding" : counted(result.findings.size(), "finding"),
                    clean ? Style::kGreen : Style::kRed, STDOUT_FILENO),
             counted(result.executions, "execution"), with_commas(rounded(result.distinct)),
             seconds_text(result.seconds), result.exhausted ? ", all schedules seen" : "",
             result.interrupted ? ", interrupted" : "");
  std::fflush(stdout);
}

int run(const Context& context, const RunCommand& command) {
  if (const std::string mistake = mistake_in(command.flags); !mistake.empty()) {
    return complain(mistake);
  }
  const std::vector<std::string> strays = unmatched(command.patterns);
  if (!strays.empty()) return nothing_matched(context, strays, command.json);
  const std::vector<const Scenario*> chosen = matching(command.patterns);
  const engine::InterruptGuard interrupts;
  Json scenarios = Json::array();
  int status = kExitOk;
  std::uint64_t executions = 0;
  SuppressionUse suppressions;
  bool whole_file = chosen.size() == weft::scenarios().size();
  const auto worse = [&status](int other) {
    // A bug of ours or a mistake outranks what was found before it.
    if (status == kExitOk || other > status) status = other;
  };
  for (const Scenario* scenario : chosen) {
    const Options options = options_for(*scenario, command.flags);
    const Result result = explore(options, setup_of(context), scenario->body);
    if (!result.warning.empty()) complain(result.warning);
    executions += result.executions;
    suppressions.add(result.suppressions);
    // What a scenario brings along may be for others as well.
    whole_file |= options.suppressions != scenario->suppressions;
    if (command.json) {
      scenarios.push_back(to_json(scenario->name, result));
    } else if (result.executions != 0 || !result.findings.empty()) {
      print_result(scenario->name, result);
    }
    if (!result.findings.empty()) worse(kExitFinding);
    if (!result.internal_error.empty()) {
      worse(complain(scenario->name + ": " + result.internal_error, kExitInternal));
    } else if (!result.error.empty()) {
      worse(complain(scenario->name + ": " + result.error));
    }
    if (result.interrupted) {
      worse(kExitInterrupted);
      break;
    }
  }
  if (command.json) {
    fmt::print("{}\n", dump({{"scenarios", scenarios},
                             {"suppressions", suppressions.to_json()},
                             {"interrupted", status == kExitInterrupted}}));
  } else {
    suppressions.print();
  }
  // Who was interrupted has not seen all that there is to suppress.
  if (status != kExitInterrupted && whole_file) suppressions.warn_of_unused();
  if (status == kExitOk && executions == 0) {
    return complain("no execution finished: give more --schedules or --seconds", kExitNothingRan);
  }
  return status;
}

}  // namespace

void add_run(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "run", "explores the scenarios that PATTERN matches, until something is found");
  auto command = std::make_shared<RunCommand>();
  sub->add_option("PATTERN", command->patterns,
                  "part of a name, or a glob for the whole of it ('*' and '?')")
      ->required();
  command->flags.add(*sub, {"schedules", "seconds", "strategy", "seed", "jobs", "out", "keep_going",
                            "max_steps", "memory_points", "races", "leaks", "suppressions",
                            "spurious_wakeups", "allocation_failures", "executor", "hang_seconds"});
  sub->add_flag("--json", command->json,
                "{scenarios: [{name, executions, seconds, findings: [{kind, message, token, steps, "
                "preemptions}]}]}");
  sub->footer(
      "Without --schedules and --seconds a scenario gets its own budget.\n"
      "\n"
      "Strategies:\n" +
      strategies::names_help() +
      "\n"
      "Examples:\n"
      "  weft run lost_update\n"
      "  weft run 'classic/*.buggy' --strategy pct:depth=3 --seed 7\n"
      "  weft run context --seconds 60 --jobs 2 --keep-going --json\n"
      "\n"
      "An entry of a suppressions file is race:PATTERN or deadlock:PATTERN, below a comment with "
      "its\n"
      "reason; docs/suppressions.md has the rest.\n");
  sub->callback([&context, command] {
    context.run = [&context, command] { return run(context, *command); };
  });
}

}  // namespace weft::cli
