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
#include "harness/cli/finding_store.h"
#include "harness/cli/json.h"
#include "harness/cli/suppressions.h"
#include "harness/cli/terminal.h"
#include "harness/strategies/factory.h"

namespace weft::cli {
namespace {

const options::Field& field_named(const std::string& name) {
  const auto fields = options::fields();
  const auto field = std::find_if(fields.begin(), fields.end(),
                                  [&](const options::Field& f) { return name == f.name; });
  WEFT_CHECK(field != fields.end(), "a command offers a flag that no field of Options has");
  return *field;
}

std::string flag_name(const std::string& field) {
  return option_name(OptionStyle::kCommand, field);
}

bool is_scenario(const std::string& name) {
  return std::any_of(scenarios().begin(), scenarios().end(),
                     [&](const Scenario& scenario) { return scenario.name == name; });
}

/// A whole name means that scenario, also where it is a part of others' names.
bool means(const std::string& pattern, const std::string& name) {
  return is_scenario(pattern) ? pattern == name : pattern_matches(pattern, name);
}

}  // namespace

void ExplorationFlags::add(CLI::App& command, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const options::Field& field = field_named(name);
    Given& given = *given_.emplace_back(std::make_unique<Given>());
    given.field = name;
    if (*field.placeholder == '\0') {
      given.option = command.add_flag(flag_name(name) + "{1}", given.value, field.help);
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

bool ExplorationFlags::offers(std::string_view field) const {
  return std::any_of(given_.begin(), given_.end(),
                     [&](const auto& given) { return given->field == field; });
}

std::vector<const Scenario*> matching(const std::vector<std::string>& patterns) {
  std::vector<const Scenario*> matches;
  for (const Scenario& scenario : scenarios()) {
    const bool matched =
        patterns.empty() || std::any_of(patterns.begin(), patterns.end(), [&](const auto& pattern) {
          return means(pattern, scenario.name);
        });
    if (matched) matches.push_back(&scenario);
  }
  return matches;
}

std::vector<std::string> unmatched(const std::vector<std::string>& patterns) {
  std::vector<std::string> strays;
  for (const std::string& pattern : patterns) {
    // The empty one would be a part of every name.
    if (pattern.empty() || matching({pattern}).empty()) strays.push_back(pattern);
  }
  return strays;
}

std::string mistake_in(const ExplorationFlags& flags) {
  Options options;
  std::string error = flags.apply(options);
  if (error.empty()) (void)strategies::make(options.strategy, error);
  if (error.empty() && !options.suppressions.empty()) {
    error = Suppressions::load(options.suppressions).error();
  }
  if (error.empty() && flags.offers("out")) {
    error = findings_refusal(options.out, OptionStyle::kCommand);
  }
  return error;
}

Options options_for(const Scenario& scenario, const ExplorationFlags& flags) {
  Options options = {.name = scenario.name,
                     .strategy = scenario.strategy,
                     .spurious_wakeups = scenario.spurious_wakeups,
                     .allocation_failures = scenario.allocation_failures,
                     .suppressions = scenario.suppressions};
  const std::string error = flags.apply(options);
  WEFT_CHECK(error.empty(), "the flags were not checked before the first scenario");
  if (!options.schedules && !options.seconds) options.schedules = scenario.budget;
  return options;
}

Setup setup_of(const Context& context) {
  const std::string program = shell_word(context.program);
  return {.replay_command = fmt::format("{} replay {}", program, kTokenPlace),
          .report_command = fmt::format("{} report {}", program, kDirectoryPlace),
          .colour = is_coloured(STDOUT_FILENO)};
}

int complain(const std::string& message, ExitStatus status) {
  // Not by fmt, which throws where it cannot write.
  std::fputs(fmt::format("weft: {}\n", message).c_str(), stderr);
  return status;
}

int nothing_matched(const Context& context, const std::vector<std::string>& patterns, bool json) {
  if (json)
    fmt::print("{}\n", dump({{"scenarios", Json::array()}, {"suppressions", Json::array()}}));
  return complain(
      fmt::format("no scenario matches {}; `{} list` shows all {}",
                  patterns.empty() ? "" : fmt::format("'{}'", fmt::join(patterns, "' or '")),
                  context.program, scenarios().size()),
      kExitNothingRan);
}

}  // namespace weft::cli
