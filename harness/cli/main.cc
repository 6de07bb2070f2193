// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// weft::main: the command line over the scenarios that the program registered.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <system_error>
#include <vector>

#include "harness/base/process.h"
#include "harness/cli/commands.h"
#include "harness/engine/process_image.h"

namespace weft {
namespace {

constexpr char kDescription[] =
    "Explores the interleavings of concurrent C++ code, finds what goes wrong, and replays it.\n";

constexpr char kExamples[] =
    "Examples:\n"
    "  weft list                              what there is\n"
    "  weft run lost_update                   explore whatever has lost_update in its name\n"
    "  weft run 'context/*' --seconds 60 --jobs 2 --keep-going\n"
    "  weft replay weft2.AbC...               bring a failure back, from its token\n"
    "  weft report weft-findings/NAME         every step of a failing schedule\n"
    "  weft check                             hold every scenario to its expectation\n"
    "\n"
    "Exit status: 0 nothing wrong, 1 a finding, 2 a mistake in the command, 3 a bug of Weftwork\n"
    "itself, 4 a replay that went another way, 5 nothing ran, 130 interrupted.\n"
    "NO_COLOR is respected. Flags of `run` can also be set as WEFT_NAME in the environment.\n";

/// CLI11 checks what is required first, and would not say that an option was mistyped.
std::string unknown_option(const CLI::App& app, const char* program) {
  for (const std::string& argument : app.remaining(true)) {
    if (argument.size() < 2 || argument[0] != '-' || argument == "--") continue;
    const std::vector<const CLI::App*> commands =
        app.get_subcommands([](const CLI::App*) { return true; });
    const auto given = std::find_if(commands.begin(), commands.end(),
                                    [](const CLI::App* command) { return command->parsed(); });
    return fmt::format("there is no option '{}'; `{}{}{} --help` shows those there are", argument,
                       program, given == commands.end() ? "" : " ",
                       given == commands.end() ? "" : (*given)->get_name());
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const engine::HarnessAllocations ours;
  cli::Context context;
  context.reexec = disable_address_randomisation_by_reexec(argv);
  context.program = argv[0];

  CLI::App app(kDescription, "weft");
  app.footer(kExamples);
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "the help of every command");
  cli::add_list(app, context);
  cli::add_run(app, context);
  cli::add_check(app, context);
  cli::add_replay(app, context);
  cli::add_report(app, context);
  cli::add_doctor(app, context);
  cli::add_hash(app, context);
  // CLI11 would only say that a command is missing.
  const auto is_named = [&](const CLI::App* command) { return command->check_name(argv[1]); };
  if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(is_named).empty()) {
    return cli::complain(fmt::format("there is no command '{}'; `{} --help` shows those there are",
                                     argv[1], argv[0]));
  }
  app.set_version_flag("--version", WEFT_VERSION, "the version of weft");
  app.failure_message([](const CLI::App* failed, const CLI::Error& error) {
    return fmt::format("weft: {}; `{} --help` shows what there is\n", error.what(),
                       failed->get_display_name());
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const std::string unknown = unknown_option(app, argv[0]);
    if (error.get_exit_code() != 0 && !unknown.empty()) return cli::complain(unknown);
    // CLI11 has statuses of its own; ours are documented.
    if (app.exit(error) != 0) return cli::kExitUserError;
    context.run = [] { return cli::kExitOk; };  // it has printed what was asked for
  }
  try {
    const int status = context.run();
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  } catch (const std::system_error&) {
    // fmt's, of a write that failed.
  }
  return cli::complain("cannot write to standard output; what was found is in its directory");
}

}  // namespace weft
