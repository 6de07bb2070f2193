// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "harness/cli/commands.h"
#include "harness/cli/debug_session.h"
#include "harness/cli/gdb.h"
#include "harness/cli/json.h"
#include "harness/cli/replay_session.h"
#include "harness/cli/terminal.h"
#include "harness/trace/token_file.h"

namespace weft::cli {
namespace {

struct ReplayCommand {
  std::string token;
  std::uint64_t times = 1;
  bool lenient = false;
  bool json = false;
  bool gdb = false;
  std::uint64_t at = 0;  // 0: at the finding
  std::vector<std::string> gdb_arguments;
  std::string trace_file;
  ExplorationFlags flags;
};

int status_of(const ReplayResult& result) {
  if (result.same == result.times) return kExitFinding;
  if (result.nothing == result.times) return kExitOk;
  return kExitDivergence;
}

Json to_json(const trace::Token& token, const ReplayResult& result) {
  Json json = {{"name", token.scenario},    {"times", result.times},
               {"same", result.same},       {"none", result.nothing},
               {"other", result.other},     {"diverged", result.diverged},
               {"applied", result.applied}, {"skipped", result.skipped}};
  if (!result.bug.kind.empty()) {
    json["finding"] = {{"kind", result.bug.kind},
                       {"message", result.bug.message},
                       {"steps", result.bug.steps},
                       {"preemptions", result.bug.preemptions}};
  }
  if (!result.followed.empty()) json["followed"] = result.followed;
  if (!result.divergence.empty()) json["divergence"] = result.divergence;
  if (!result.difference.empty()) json["difference"] = result.difference;
  if (!result.warning.empty()) json["warning"] = result.warning;
  return json;
}

void print_text(const trace::Token& token, const ReplayResult& result) {
  if (!result.bug.text.empty()) fmt::print("{}\n", result.bug.text);
  if (!result.followed.empty()) fmt::print("{}\n", result.followed);
  fmt::print("{}: ", styled(token.scenario, Style::kBold, STDOUT_FILENO));
  const std::string times = counted(result.times, "replay");
  if (result.same == result.times) {
    fmt::print("{}, the same finding every time: {}\n", times,
               styled(result.bug.kind, Style::kRed, STDOUT_FILENO));
  } else if (result.nothing == result.times) {
    const bool hang = token.finding == trace::FindingKind::kHang;
    fmt::print("{}, no finding: the token's {} did not come{}\n", times, trace::name(token.finding),
               hang ? "; a smaller --hang-seconds may tell it" : "");
  } else {
    fmt::print("{}: {} the token's finding, {} another, {} diverged, {} none\n", times, result.same,
               result.other, result.diverged, result.nothing);
    if (!result.divergence.empty()) fmt::print("diverged at {}\n", result.divergence);
    if (!result.difference.empty()) fmt::print("the first difference: {}\n", result.difference);
  }
}

/// After a replay that ended with `result`.
int go_to_gdb(const trace::Token& token, const Options& options, DebugPlan plan,
              const Scenario& scenario, const ReplayResult& result) {
  if (plan.before_step && *plan.before_step > result.steps) {
    return complain(fmt::format("--at {}: the replay has {}", *plan.before_step,
                                counted(result.steps, "step")));
  }
  print_text(token, result);
  if (!plan.before_step && result.nothing == result.times) {
    complain("where there is no finding, --at STEP says where gdb is to come in");
    return status_of(result);
  }
  plan.in_warm_up = result.in_warm_up;
  const DebugResult debugged = debug(token, options, plan, scenario.body);
  if (!debugged.error.empty())
    return complain(debugged.error, debugged.strayed ? kExitDivergence : kExitUserError);
  fmt::print("{}: {}\n", styled(token.scenario, Style::kBold, STDOUT_FILENO), debugged.end);
  return status_of(result);
}

int replay(const Context& context, const ReplayCommand& command) {
  DebugPlan plan;
  plan.arguments = command.gdb_arguments;
  if (command.at != 0) plan.before_step = command.at;
  if (command.gdb) {
    auto gdb = find_gdb();
    if (!gdb) return complain(gdb.error());
    plan.gdb = std::move(*gdb);
  }
  const auto token = trace::load_token(command.token);
  if (!token) return complain(token.error());
  const auto& all = scenarios();
  const auto scenario = std::find_if(all.begin(), all.end(),
                                     [&](const Scenario& s) { return s.name == token->scenario; });
  if (scenario == all.end()) {
    return complain(fmt::format(
        "the token is of scenario '{}', which this program does not have; replay it with the "
        "program that printed it",
        token->scenario));
  }
  if (const std::string mistake = mistake_in(command.flags); !mistake.empty()) {
    return complain(mistake);
  }
  Options options = options_for(*scenario, command.flags);
  options.lenient = command.lenient;
  // Traces are equal, and under the baton what gdb stopped can go on.
  if (command.gdb && options.executor == "auto") options.executor = "baton";
  const ReplayResult result = cli::replay(*token, options, setup_of(context), scenario->body,
                                          command.times, command.trace_file);
  if (!result.internal_error.empty()) return complain(result.internal_error, kExitInternal);
  if (!result.error.empty()) return complain(result.error);
  if (!result.warning.empty()) complain(result.warning);
  if (command.gdb) {
    return go_to_gdb(*token, options_of(*token, options), std::move(plan), *scenario, result);
  }
  if (command.json) {
    fmt::print("{}\n", dump(to_json(*token, result)));
  } else {
    print_text(*token, result);
  }
  if (!result.trace_failure.empty()) return complain(result.trace_failure);
  return status_of(result);
}

}  // namespace

void add_replay(CLI::App& app, Context& context) {
  CLI::App* sub =
      app.add_subcommand("replay", "follows a token in a fresh process and shows what it leads to");
  auto command = std::make_shared<ReplayCommand>();
  sub->add_option(
         "TOKEN", command->token,
         "weft2.... (white space inside is ignored), a file that holds one, or a finding's "
         "directory")
      ->required();
  CLI::Option* const times =
      sub->add_option("--times", command->times, "replays, each in a process of its own")
          ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
  sub->add_flag("--lenient", command->lenient,
                "follow what still applies of a token of another build, and say what was skipped");
  CLI::Option* const json =
      sub->add_flag("--json", command->json, "{name, times, same, none, other, diverged, finding}");
  sub->add_option("--trace", command->trace_file,
                  "write every step of the first replay to this file, for report")
      ->type_name("FILE");
  command->flags.add(*sub, {"executor", "hang_seconds"});
  CLI::Option* const gdb =
      sub->add_flag("--gdb", command->gdb,
                    "then replay it once more and stop at the finding in gdb: every task is a "
                    "thread with its own stack (the program that WEFT_GDB names, else gdb)");
  gdb->excludes(times)->excludes(json);
  sub->add_option("--at", command->at,
                  "with --gdb: stop before this step happens; the report numbers them")
      ->type_name("STEP")
      ->check(CLI::Range(std::uint64_t{1}, ~std::uint64_t{0}))
      ->needs(gdb);
  sub->add_option("ARGUMENTS", command->gdb_arguments, "after --, with --gdb: gdb's own")
      ->needs(gdb);
  sub->footer(
      "Exit status: 1 the token's finding every time, 0 no finding, 4 the replay diverged or "
      "showed\n"
      "another finding, 2 a bad token.\n"
      "\n"
      "Examples:\n"
      "  weft replay weft2.AbC...\n"
      "  weft replay weft-findings/classic-lost_update.buggy-always-1a2b3c4d --times 100\n"
      "  weft replay weft2.AbC... --gdb                      at the finding\n"
      "  weft replay weft2.AbC... --gdb --at 12              before step 12 happens\n"
      "  weft replay weft2.AbC... --gdb -- -batch -ex 'thread apply all backtrace'\n"
      "`thread 2` goes to a task, `up` and `frame function NAME` to its code; `continue` goes on "
      "to\n"
      "the finding, for --gdb takes --executor baton. With alias the tasks stay where gdb finds\n"
      "them. docs/debugging.md has the rest.\n");
  sub->callback([&context, command] {
    context.run = [&context, command] { return replay(context, *command); };
  });
}

}  // namespace weft::cli
