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
        std::printf("weft: suppressed in %llu executions: %s (%s: %s)\n",
                    static_cast<unsigned long long>(one.hits), one.entry.c_str(), one.place.c_str(),
                    one.reason.c_str());
      }
    }
  }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!exploring()) return;
    if (result.skipped()) skip_notice().note(on_one_line(result.message()));
    if (!result.failed()) return;
    framework::fail(result.file_name(), result.line_number(),
                    on_one_line(result.message()).c_str());
  }
};

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
  if (!result.followed.empty()) std::printf("weft: %s\n", result.followed.c_str());
  for (const std::string& mark : result.never) {
    std::printf("weft: never in %llu executions: %s\n",
                static_cast<unsigned long long>(result.executions), mark.c_str());
  }
  if (result.interrupted) {
    constexpr int kInterrupted = 130;  // as a shell reports a program that SIGINT ended
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    // GoogleTest takes a test for passed as long as it has not failed: this one, too.
    const int passed = all.successful_test_count() - (test.result()->Failed() ? 0 : 1);
    std::printf("weft: interrupted in %s after %llu executions; of %d tests %d passed, %d failed\n",
                options.name.c_str(), static_cast<unsigned long long>(result.executions),
                all.test_to_run_count(), passed, all.failed_test_count());
    std::fflush(stdout);
    std::exit(kInterrupted);
  }
  const std::uint64_t skipped = std::min(skip_notice().executions(), result.executions);
  if (skipped == 0) return;
  if (skipped == result.executions && result.ok()) GTEST_SKIP() << skip_notice().reason();
  std::printf("weft: %llu of %llu executions skipped the test: %s\n",
              static_cast<unsigned long long>(skipped),
              static_cast<unsigned long long>(result.executions), skip_notice().reason().c_str());
}

}  // namespace weft::gtest
