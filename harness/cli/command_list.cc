// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "harness/cli/commands.h"
#include "harness/cli/json.h"

namespace weft::cli {
namespace {

int list(bool json) {
  if (json) {
    Json all = Json::array();
    for (const Scenario& scenario : scenarios()) all.push_back(to_json(scenario));
    fmt::print("{}\n", dump(all));
    return kExitOk;
  }
  std::size_t widest_name = 0;
  std::size_t widest_expectation = 0;
  for (const Scenario& scenario : scenarios()) {
    widest_name = std::max(widest_name, scenario.name.size());
    widest_expectation = std::max(widest_expectation, expectation_text(scenario.expect).size());
  }
  for (const Scenario& scenario : scenarios()) {
    fmt::print("{:<{}}  {:<{}}  {:>7}  {}\n", scenario.name, widest_name,
               expectation_text(scenario.expect), widest_expectation, scenario.budget,
               scenario.summary);
  }
  return kExitOk;
}

}  // namespace

void add_list(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "list", "shows the scenarios: name, what is expected of it, budget in executions, story");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "an array of {name, expect, budget, source, summary}");
  command->callback([&context, json] { context.run = [json] { return list(*json); }; });
}

}  // namespace weft::cli
