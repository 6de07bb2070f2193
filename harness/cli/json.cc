// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/cli/json.h"

#include <fmt/format.h>

namespace weft::cli {

Json to_json(const FoundBug& bug) {
  return {{"kind", bug.kind},   {"message", bug.message},         {"token", bug.token},
          {"steps", bug.steps}, {"preemptions", bug.preemptions}, {"execution", bug.execution},
          {"hits", bug.hits},   {"directory", bug.directory}};
}

Json to_json(const Suppression& suppression) {
  return {{"entry", suppression.entry},
          {"place", suppression.place},
          {"reason", suppression.reason},
          {"hits", suppression.hits}};
}

Json to_json(const std::string& name, const Result& result) {
  Json findings = Json::array();
  for (const FoundBug& bug : result.findings) findings.push_back(to_json(bug));
  Json suppressed = Json::array();
  for (const Suppression& suppression : result.suppressions) {
    if (suppression.hits != 0) suppressed.push_back(to_json(suppression));
  }
  Json json = {{"name", name},
               {"executions", result.executions},
               {"seconds", result.seconds},
               {"findings", findings},
               {"steps", result.steps},
               {"distinct", result.distinct},
               {"exhausted", result.exhausted},
               {"never", result.never},
               {"suppressed", suppressed}};
  if (!result.error.empty()) json["error"] = result.error;
  if (!result.internal_error.empty()) json["internal_error"] = result.internal_error;
  return json;
}

Json to_json(const Scenario& scenario) {
  return {{"name", scenario.name},
          {"expect", expectation_text(scenario.expect)},
          {"budget", scenario.budget},
          {"source", fmt::format("{}:{}", scenario.source, scenario.line)},
          {"summary", scenario.summary}};
}

Json finding_json(const FoundBug& bug, const trace::RunFacts& facts) {
  Json json = {{"scenario", facts.scenario}};
  json.update(to_json(bug));
  json.erase("directory");  // it lies there
  json.erase("hits");       // written when it was first seen
  json["strategy"] = facts.strategy;
  json["seed"] = facts.seed;
  json["fingerprint"] = fmt::format("{:016x}", facts.fingerprint);
  return json;
}

std::string expectation_text(const Expectation& expect) {
  if (!expect.must_find) return "must_pass";
  return "must_find " + expect.kind + (expect.or_kind.empty() ? "" : " or " + expect.or_kind);
}

std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace weft::cli
