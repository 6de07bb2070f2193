// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Goal: the shapes of --json stay what other programs parse. Method: golden objects, field by
// field.

#include "harness/cli/json.h"

#include <gtest/gtest.h>

namespace weft::cli {
namespace {

FoundBug sample_bug() {
  return {.kind = "deadlock",
          .message = "tasks wait for each other in a cycle",
          .token = "weft1.abc",
          .steps = 12,
          .preemptions = 1,
          .execution = 3,
          .text = "long",
          .directory = "weft-findings/x",
          .hits = 2};
}

TEST(JsonShapes, OfAFinding) {
  EXPECT_EQ(to_json(sample_bug()), Json::parse(R"({
    "kind": "deadlock", "message": "tasks wait for each other in a cycle", "token": "weft1.abc",
    "steps": 12, "preemptions": 1, "execution": 3, "hits": 2, "directory": "weft-findings/x"})"));
}

TEST(JsonShapes, OfAScenariosRun) {
  Result result;
  result.executions = 3;
  result.seconds = 0.5;
  result.findings.push_back(sample_bug());
  const Json json = to_json("classic/abba.buggy", result);
  EXPECT_EQ(json["name"], "classic/abba.buggy");
  EXPECT_EQ(json["executions"], 3);
  EXPECT_EQ(json["seconds"], 0.5);
  EXPECT_EQ(json["findings"].size(), 1u);
  EXPECT_EQ(json["findings"][0]["token"], "weft1.abc");
  EXPECT_FALSE(json.contains("error"));
  EXPECT_EQ(json["suppressed"], Json::array());
  EXPECT_EQ(to_json("x", Result{})["findings"], Json::array());
}

TEST(JsonShapes, OfASuppression) {
  Result result;
  result.suppressions.push_back({"race:f", "weft.supp:2", "known", 3});
  result.suppressions.push_back({"race:g", "weft.supp:4", "also", 0});
  EXPECT_EQ(to_json("x", result)["suppressed"], Json::parse(R"([
    {"entry": "race:f", "place": "weft.supp:2", "reason": "known", "hits": 3}])"));
}

TEST(JsonShapes, OfAScenario) {
  const Scenario scenario{.name = "classic/abba.buggy",
                          .summary = "two locks",
                          .expect = must_find("deadlock"),
                          .budget = 200,
                          .source = "abba.cc",
                          .line = 7};
  EXPECT_EQ(to_json(scenario), Json::parse(R"({
    "name": "classic/abba.buggy", "expect": "must_find deadlock", "budget": 200,
    "source": "abba.cc:7", "summary": "two locks"})"));
  EXPECT_EQ(expectation_text(must_pass()), "must_pass");
}

TEST(JsonShapes, OfAFindingOnDisk) {
  const Json json = finding_json(
      sample_bug(),
      {.scenario = "classic/abba.buggy", .strategy = "pct", .seed = 7, .fingerprint = 0xabc});
  EXPECT_EQ(json["scenario"], "classic/abba.buggy");
  EXPECT_EQ(json["fingerprint"], "0000000000000abc");
  EXPECT_EQ(json["seed"], 7);
  EXPECT_FALSE(json.contains("directory"));
}

TEST(JsonShapes, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(dump({{"message", "\xff!"}}), "{\n  \"message\": \"\xef\xbf\xbd!\"\n}");
}

}  // namespace
}  // namespace weft::cli
