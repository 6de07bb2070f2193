// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <weft/scenario.h>

namespace weft {
namespace {

/// Built on first use: registration runs in static initialisers of other files.
std::vector<Scenario>& registry() {
  static std::vector<Scenario> scenarios;
  return scenarios;
}

}  // namespace

const std::vector<Scenario>& scenarios() { return registry(); }

bool register_scenario(Scenario scenario) {
  std::vector<Scenario>& all = registry();
  const auto place = std::lower_bound(
      all.begin(), all.end(), scenario,
      [](const Scenario& left, const Scenario& right) { return left.name < right.name; });
  if (scenario.name.empty() || (place != all.end() && place->name == scenario.name)) {
    std::fprintf(stderr, "weft: %s:%d: the scenario's name '%s' is %s; give it one of its own\n",
                 scenario.source, scenario.line, scenario.name.c_str(),
                 scenario.name.empty() ? "empty" : "already taken");
    std::exit(2);
  }
  all.insert(place, std::move(scenario));
  return true;
}

}  // namespace weft
