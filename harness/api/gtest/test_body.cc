// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/framework.h>
#include <weft/gtest.h>

#include "harness/api/gtest/skip_notice.h"

namespace weft::gtest {
namespace {

/// GoogleTest's explanation of a failure takes several lines; a finding's message is one.
std::string on_one_line(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    if (part.empty()) continue;
    if (!line.empty()) line += line.back() == ':' ? " " : ", ";
    line += part;
  }
  return line;
}

std::string counted(std::uint64_t number, const std::string& noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

/// What the suppressions file did for all tests together.
std::vector<Suppression>& suppressions() {
  static std::vector<Suppression> all;
  return all;
}

void add_suppressions(const std::vector<Suppression>& of_a_test) {
  std::vector<Suppression>& all = suppressions();
  for (const Suppression& one : of_a_test) {
    const auto known = std::find_if(all.begin(), all.end(),
                                    [&](const Suppression& s) { return s.place == one.place; });
    if (known == all.end()) {
      all.push_back(one);
    } else {
      known->hits += one.hits;
    }
  }
}

SkipNotice& skip_notice() {
  static SkipNotice notice;
  return notice;
}

/// Turns the first failed expectation on a task into the end of its execution.
class ExpectationListener : public testing::EmptyTestEventListener {
 public:
  void OnTestProgramEnd(const testing::UnitTest&) override {
    for (const Suppression& one : suppressions()) {
      if (one.hits == 0) {
        std::fprintf(stderr, "weft: %s: '%s' suppressed nothing\n", one.place.c_str(),
                     one.entry.c_str());
      } else {
        std::printf("weft: suppressed %s: %s (%s: %s)\n", counted(one.hits, "time").c_str(),
                    one.entry.c_str(), one.place.c_str(), one.reason.c_str());
      }
    }
  }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!exploring()) return;
    if (result.skipped()) {
      skip_notice().note(result.file_name() == nullptr ? "" : result.file_name(),
                         result.line_number(), on_one_line(result.message()));
    }
    if (!result.failed()) return;
    framework::fail(result.file_name(), result.line_number(),
                    on_one_line(result.message()).c_str());
  }
};

struct Standing {
  int all = 0;  // that were to run
  int passed = 0;
  int failed = 0;
};

/// GoogleTest itself takes what has not run for passed.
Standing standing_before(const testing::TestInfo& current) {
  Standing standing;
  const testing::UnitTest& program = *testing::UnitTest::GetInstance();
  for (int s = 0; s < program.total_test_suite_count(); ++s) {
    const testing::TestSuite& suite = *program.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const testing::TestInfo& test = *suite.GetTestInfo(t);
      if (!test.should_run()) continue;
      ++standing.all;
      const testing::TestResult& result = *test.result();
      if (result.start_timestamp() == 0) continue;
      if (result.Failed()) ++standing.failed;
      if (result.Passed() && &test != &current) ++standing.passed;
    }
  }
  return standing;
}

void listen_once() {
  static const bool listening = [] {
    // Owned by GoogleTest from here on.
    testing::UnitTest::GetInstance()->listeners().Append(new ExpectationListener);
    return true;
  }();
  (void)listening;
}

}  // namespace

void run_test(Options options, const char* file, int line, void (*body)()) {
  listen_once();
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  skip_notice().clear();
  options.name = std::string(test.test_suite_name()) + "." + test.name();
  const Result result = explore(options, body);

  testing::Test::RecordProperty("executions", std::to_string(result.executions));
  add_suppressions(result.suppressions);
  for (const FoundBug& bug : result.findings) ADD_FAILURE_AT(file, line) << bug.text;
  for (const std::string* error : {&result.error, &result.divergence, &result.internal_error}) {
    if (!error->empty()) ADD_FAILURE_AT(file, line) << *error;
  }
  for (const std::string* note : {&result.warning, &result.followed}) {
    if (!note->empty()) std::printf("weft: %s\n", note->c_str());
  }
  const std::string executions = counted(result.executions, "execution");
  for (const std::string& mark : result.never) {
    std::printf("weft: never in %s: %s\n", executions.c_str(), mark.c_str());
  }
  if (result.interrupted) {
    constexpr int kInterrupted = 130;  // as a shell reports a program that SIGINT ended
    const Standing standing = standing_before(test);
    std::printf("weft: interrupted in %s after %s; of %s %d passed, %d failed\n",
                options.name.c_str(), executions.c_str(),
                counted(static_cast<std::uint64_t>(standing.all), "test").c_str(), standing.passed,
                standing.failed);
    std::fflush(stdout);
    std::exit(kInterrupted);
  }
  const std::uint64_t skipped = std::min(skip_notice().executions(), result.executions);
  if (skipped == 0) return;
  if (skipped == result.executions && result.ok()) {
    const SkipNotice& notice = skip_notice();
    GTEST_MESSAGE_AT_(notice.file(), notice.line(), notice.reason().c_str(),
                      testing::TestPartResult::kSkip);
    return;
  }
  std::printf("weft: %llu of %s skipped the test: %s\n", static_cast<unsigned long long>(skipped),
              executions.c_str(), skip_notice().reason().c_str());
}

}  // namespace weft::gtest
