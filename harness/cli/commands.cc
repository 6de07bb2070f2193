// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/cli/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "harness/api/options.h"
#include "harness/api/pattern.h"
#include "harness/base/check.h"
#include "harness/cli/json.h"
#include "harness/cli/suppressions.h"
#include "harness/cli/terminal.h"

namespace weft::cli {
namespace {

const options::Field& field_named(const std::string& name) {
  const auto fields = options::fields();
  const auto field = std::find_if(fields.begin(), fields.end(),
                                  [&](const options::Field& f) { return name == f.name; });
  WEFT_CHECK(field != fields.end(), "a command offers a flag that no field of Options has");
  return *field;
}

/// keep_going is --keep-going here.
std::string flag_name(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

}  // namespace

void ExplorationFlags::add(CLI::App& command, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const options::Field& field = field_named(name);
    Given& given = *given_.emplace_back(std::make_unique<Given>());
    given.field = name;
    if (*field.placeholder == '\0') {
      given.value = "1";
      given.option = command.add_flag(flag_name(name), field.help);
    } else {
      given.option = command.add_option(flag_name(name), given.value, field.help)
                         ->type_name(field.placeholder);
    }
  }
}

std::string ExplorationFlags::apply(Options& options) const {
  std::string error = options::apply_environment(options);
  for (const auto& given : given_) {
    if (!error.empty()) break;
    if (given->option->count() == 0) continue;
    error = options::set(options, field_named(given->field), flag_name(given->field), given->value);
  }
  return error;
}

std::vector<const Scenario*> matching(const std::vector<std::string>& patterns) {
  const auto is_name = [](const std::string& pattern) {
    return std::any_of(scenarios().begin(), scenarios().end(),
                       [&](const Scenario& scenario) { return scenario.name == pattern; });
  };
  std::vector<const Scenario*> matches;
  for (const Scenario& scenario : scenarios()) {
    const bool matched =
        patterns.empty() ||
        std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
          // A whole name means that scenario, also where it is a part of others' names.
          return is_name(pattern) ? pattern == scenario.name
                                  : pattern_matches(pattern, scenario.name);
        });
    if (matched) matches.push_back(&scenario);
  }
  return matches;
}

std::string options_for(const Scenario& scenario, const ExplorationFlags& flags, Options& options) {
  options = {.name = scenario.name,
             .strategy = scenario.strategy,
             .spurious_wakeups = scenario.spurious_wakeups,
             .allocation_failures = scenario.allocation_failures,
             .suppressions = scenario.suppressions};
  std::string error = flags.apply(options);
  if (!options.schedules && !options.seconds) options.schedules = scenario.budget;
  // Once for all scenarios, before the first of them.
  if (error.empty() && !options.suppressions.empty()) {
    error = Suppressions::load(options.suppressions).error();
  }
  return error;
}

Setup setup_of(const Context& context) {
  return {.replay_command = fmt::format("{} replay {}", context.program, kTokenPlace),
          .report_command = fmt::format("{} report {}", context.program, kDirectoryPlace),
          .colour = is_coloured(STDOUT_FILENO)};
}

int complain(const std::string& message, ExitStatus status) {
  fmt::print(stderr, "weft: {}\n", message);
  return status;
}

int nothing_matched(const std::vector<std::string>& patterns, bool json) {
  if (json)
    fmt::print("{}\n", dump({{"scenarios", Json::array()}, {"suppressions", Json::array()}}));
  return complain(
      fmt::format(
          "no scenario matches {}; `weft list` shows all {}",
          patterns.empty() ? "" : "'" + fmt::format("{}", fmt::join(patterns, "' or '")) + "'",
          scenarios().size()),
      kExitNothingRan);
}

}  // namespace weft::cli
