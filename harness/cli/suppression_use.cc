// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/cli/suppression_use.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/cli/commands.h"
#include "harness/cli/terminal.h"

namespace weft::cli {

void SuppressionUse::add(const std::vector<Suppression>& suppressions) {
  for (const Suppression& one : suppressions) {
    const auto known = std::find_if(all_.begin(), all_.end(),
                                    [&](const Suppression& s) { return s.place == one.place; });
    if (known == all_.end()) {
      all_.push_back(one);
    } else {
      known->hits += one.hits;
    }
  }
}

void SuppressionUse::print() const {
  for (const Suppression& one : all_) {
    if (one.hits == 0) continue;
    fmt::print("suppressed {}: {} ({}: {})\n", counted(one.hits, "time"), one.entry, one.place,
               one.reason);
  }
}

void SuppressionUse::warn_of_unused() const {
  for (const Suppression& one : all_) {
    if (one.hits != 0) continue;
    complain(fmt::format("{}: '{}' suppressed nothing", one.place, one.entry));
  }
}

Json SuppressionUse::to_json() const {
  Json array = Json::array();
  for (const Suppression& one : all_) array.push_back(cli::to_json(one));
  return array;
}

}  // namespace weft::cli
