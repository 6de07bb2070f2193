// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "harness/cli/commands.h"
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
    fmt::print("{}, no finding\n", times);
  } else {
    fmt::print("{}: {} the token's finding, {} another, {} diverged, {} none\n", times, result.same,
               result.other, result.diverged, result.nothing);
    if (!result.divergence.empty()) fmt::print("diverged at {}\n", result.divergence);
    if (!result.difference.empty()) fmt::print("the first difference: {}\n", result.difference);
  }
}

int replay(const Context& context, const ReplayCommand& command) {
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
  const ReplayResult result = cli::replay(*token, options, setup_of(context), scenario->body,
                                          command.times, command.trace_file);
  if (!result.internal_error.empty()) return complain(result.internal_error, kExitInternal);
  if (!result.error.empty()) return complain(result.error);
  if (!result.warning.empty()) complain(result.warning);
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
  sub->add_option("--times", command->times, "replays, each in a process of its own")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
  sub->add_flag("--lenient", command->lenient,
                "follow what still applies of a token of another build, and say what was skipped");
  sub->add_flag("--json", command->json, "{name, times, same, none, other, diverged, finding}");
  sub->add_option("--trace", command->trace_file,
                  "write every step of the first replay to this file, for report")
      ->type_name("FILE");
  command->flags.add(*sub, {"fresh_threads", "hang_seconds"});
  sub->footer(
      "Exit status: 1 the token's finding every time, 0 no finding, 4 the replay diverged or "
      "showed\n"
      "another finding, 2 a bad token.\n"
      "\n"
      "Examples:\n"
      "  weft replay weft2.AbC...\n"
      "  weft replay weft-findings/classic-lost_update.buggy-always-1a2b3c4d --times 100\n");
  sub->callback([&context, command] {
    context.run = [&context, command] { return replay(context, *command); };
  });
}

}  // namespace weft::cli
