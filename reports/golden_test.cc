// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: failure output is an interface; nobody changes a word of it unawares. Method: one hand-made
// trace for each kind of finding, compared with the files in testdata/. To accept new wording, run
// with WEFT_UPDATE_GOLDEN=1 and review the difference like any other.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "harness/trace/trace_file.h"
#include "reports/json.h"
#include "reports/sample_traces.h"
#include "reports/text.h"

namespace weft::reports {
namespace {

using trace::FindingKind;

std::string golden_path(const std::string& name) {
  const std::string here = __FILE__;
  return here.substr(0, here.rfind('/')) + "/testdata/" + name;
}

void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = golden_path(name);
  if (std::getenv("WEFT_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path << " is missing: run with WEFT_UPDATE_GOLDEN=1";
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, expected) << "to accept: WEFT_UPDATE_GOLDEN=1";
}

TextOptions in_source_tree() {
  return {.colour = false,
          .root = "/src/app",
          .paste = {"weft replay weft1.sample", "weft report weft-findings/sample"}};
}

class Golden : public ::testing::TestWithParam<FindingKind> {};

TEST_P(Golden, Text) {
  const trace::Trace trace = sample_trace(GetParam());
  expect_golden(std::string(trace::name(GetParam())) + ".txt",
                render_text(trace, in_source_tree()));
}

TEST_P(Golden, AFileThatWasWrittenAndReadRendersAlike) {
  const trace::Trace trace = sample_trace(GetParam());
  const auto read = trace::decode_trace(trace::encode_trace(trace));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(render_text(*read), render_text(trace));
  EXPECT_EQ(render_json(*read), render_json(trace));
}

// The fields are the same for all kinds; these two fill most of them.
TEST(GoldenJson, Deadlock) {
  expect_golden("deadlock.json", render_json(sample_trace(FindingKind::kDeadlock)) + "\n");
}
TEST(GoldenJson, FatalSignal) {
  expect_golden("fatal_signal.json", render_json(sample_trace(FindingKind::kFatalSignal)) + "\n");
}

// Written once by each version of the format and never again: old traces render with new reports.
TEST(GoldenTrace, Version1RendersAsItsSample) {
  const auto read = trace::read_trace(golden_path("version_1.weft"));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(render_text(*read, in_source_tree()),
            render_text(sample_trace(FindingKind::kDeadlock), in_source_tree()));
}

std::vector<FindingKind> every_kind() {
  std::vector<FindingKind> kinds;
  for (int kind = 0; kind < static_cast<int>(FindingKind::kCount); ++kind) {
    kinds.push_back(static_cast<FindingKind>(kind));
  }
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(EveryKind, Golden, ::testing::ValuesIn(every_kind()),
                         [](const auto& info) { return std::string(trace::name(info.param)); });

}  // namespace
}  // namespace weft::reports
