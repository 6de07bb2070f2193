// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "harness/cli/commands.h"
#include "harness/cli/terminal.h"
#include "harness/trace/trace_file.h"
#include "reports/json.h"
#include "reports/text.h"

namespace weft::cli {
namespace {

struct ReportCommand {
  std::string directory;
  bool json = false;
};

int report(const ReportCommand& command) {
  const auto trace = trace::read_trace(command.directory);
  if (!trace) return complain(trace.error());
  if (command.json) {
    fmt::print("{}", reports::render_json(*trace));
  } else {
    fmt::print("{}", reports::render_text(*trace, {.colour = is_coloured(STDOUT_FILENO)}));
  }
  return kExitOk;
}

}  // namespace

void add_report(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "report", "shows a finding: every step of the failing schedule, from the trace on disk");
  auto command = std::make_shared<ReportCommand>();
  sub->add_option("DIR", command->directory, "a finding's directory, or a trace file")->required();
  sub->add_flag("--json", command->json, "the whole trace as JSON");
  sub->footer(
      "Needs the trace alone: neither the program that made it nor its machine.\n"
      "\n"
      "Example:\n"
      "  weft report weft-findings/classic-lost_update.buggy-always-1a2b3c4d\n");
  sub->callback([&context, command] { context.run = [command] { return report(*command); }; });
}

}  // namespace weft::cli
