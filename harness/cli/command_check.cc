// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "harness/cli/commands.h"
#include "harness/cli/json.h"
#include "harness/cli/suppression_use.h"
#include "harness/cli/terminal.h"
#include "harness/engine/explorer_interrupt.h"

namespace weft::cli {
namespace {

struct CheckCommand {
  std::vector<std::string> patterns;
  bool json = false;
  ExplorationFlags flags;
};

/// One scenario held to its expectation.
struct Verdict {
  const Scenario* scenario = nullptr;
  Result result;
  std::string shown = {};  // "deadlock", "nothing", "error: ..."
  bool as_expected = false;
};

Verdict judge(const Scenario& scenario, Result result) {
  if (!result.warning.empty()) complain(result.warning);
  Verdict verdict{.scenario = &scenario, .result = std::move(result)};
  const Result& r = verdict.result;
  if (!r.internal_error.empty() || !r.error.empty()) {
    verdict.shown = "error: " + (r.error.empty() ? r.internal_error : r.error);
    return verdict;
  }
  verdict.shown = r.findings.empty() ? "nothing" : r.findings.front().kind;
  verdict.as_expected = scenario.expect.must_find
                            ? !r.findings.empty() && scenario.expect.allows(r.findings.front().kind)
                            : r.findings.empty() && r.executions > 0;
  return verdict;
}

void print_table(const std::vector<Verdict>& verdicts) {
  std::size_t name = 8;
  std::size_t expectation = 8;
  for (const Verdict& verdict : verdicts) {
    name = std::max(name, verdict.scenario->name.size());
    expectation = std::max(expectation, expectation_text(verdict.scenario->expect).size());
  }
  fmt::print("{:<{}}  {:<{}}  {:>10}  {:>9}  {}\n", "scenario", name, "expected", expectation,
             "executions", "time", "shown");
  for (const Verdict& verdict : verdicts) {
    fmt::print(
        "{:<{}}  {:<{}}  {:>10}  {:>9}  {}\n", verdict.scenario->name, name,
        expectation_text(verdict.scenario->expect), expectation,
        with_commas(verdict.result.executions), seconds_text(verdict.result.seconds),
        styled(verdict.shown, verdict.as_expected ? Style::kGreen : Style::kRed, STDOUT_FILENO) +
            (verdict.as_expected ? "" : "  <-- not as expected"));
  }
  const auto wrong = static_cast<std::uint64_t>(std::count_if(
      verdicts.begin(), verdicts.end(), [](const Verdict& v) { return !v.as_expected; }));
  fmt::print("{} checked, {} not as expected\n", counted(verdicts.size(), "scenario"), wrong);
}

Json to_json(const std::vector<Verdict>& verdicts, const SuppressionUse& suppressions,
             bool interrupted) {
  Json scenarios = Json::array();
  for (const Verdict& verdict : verdicts) {
    Json one = cli::to_json(verdict.scenario->name, verdict.result);
    one["expect"] = expectation_text(verdict.scenario->expect);
    one["shown"] = verdict.shown;
    one["as_expected"] = verdict.as_expected;
    scenarios.push_back(std::move(one));
  }
  return {{"scenarios", scenarios},
          {"suppressions", suppressions.to_json()},
          {"interrupted", interrupted}};
}

int check(const Context& context, const CheckCommand& command) {
  if (const std::string mistake = mistake_in(command.flags); !mistake.empty()) {
    return complain(mistake);
  }
  const std::vector<std::string> strays = unmatched(command.patterns);
  if (!strays.empty()) return nothing_matched(context, strays, command.json);
  const std::vector<const Scenario*> chosen = matching(command.patterns);
  const engine::InterruptGuard interrupts;
  std::vector<Verdict> verdicts;
  bool interrupted = false;
  SuppressionUse suppressions;
  bool whole_file = chosen.size() == scenarios().size();
  for (const Scenario* scenario : chosen) {
    const Options options = options_for(*scenario, command.flags);
    Setup setup = setup_of(context);
    setup.expected = scenario->expect;
    verdicts.push_back(judge(*scenario, explore(options, setup, scenario->body)));
    const Verdict& latest = verdicts.back();
    suppressions.add(latest.result.suppressions);
    // What a scenario brings along may be for others as well.
    whole_file |= options.suppressions != scenario->suppressions;
    // What nobody expected is worth the whole report.
    if (!latest.as_expected && !command.json) {
      for (const FoundBug& bug : latest.result.findings) fmt::print("{}\n", bug.text);
    }
    interrupted = latest.result.interrupted;
    if (!interrupted) continue;
    // It had no chance to show what it should, or should not.
    if (latest.result.findings.empty()) verdicts.pop_back();
    break;
  }
  if (command.json) {
    fmt::print("{}\n", dump(to_json(verdicts, suppressions, interrupted)));
  } else {
    print_table(verdicts);
    suppressions.print();
  }
  if (interrupted) return complain("interrupted", kExitInterrupted);
  if (whole_file) suppressions.warn_of_unused();
  if (std::any_of(verdicts.begin(), verdicts.end(),
                  [](const Verdict& v) { return !v.result.internal_error.empty(); })) {
    return kExitInternal;
  }
  const bool all =
      std::all_of(verdicts.begin(), verdicts.end(), [](const Verdict& v) { return v.as_expected; });
  return all ? kExitOk : kExitFinding;
}

}  // namespace

void add_check(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "check", "holds every scenario to its expectation: must_find KIND or must_pass");
  auto command = std::make_shared<CheckCommand>();
  sub->add_option("PATTERN", command->patterns, "only these; all where none is given");
  command->flags.add(*sub, {"schedules", "seed", "jobs", "strategy", "suppressions", "out",
                            "executor", "hang_seconds"});
  sub->add_flag("--json", command->json, "{scenarios: [{name, expect, shown, as_expected, ...}]}");
  sub->footer(
      "Exit status: 0 when every scenario shows what it should within its budget, 1 otherwise.\n"
      "A canary is a scenario that must fail: it proves that a broken oracle would be noticed.\n"
      "\n"
      "Examples:\n"
      "  weft check\n"
      "  weft check 'context/*' --seed 7 --json\n");
  sub->callback([&context, command] {
    context.run = [&context, command] { return check(context, *command); };
  });
}

}  // namespace weft::cli
