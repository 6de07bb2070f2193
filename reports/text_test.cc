// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: what the golden files do not show: options, limits, hostile text. Method: small changes to
// the sample traces.

#include "reports/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/sample_traces.h"

namespace weft::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using trace::FindingKind;

TEST(Text, ColourIsThereOnlyWhenAskedFor) {
  const trace::Trace trace = sample_trace(FindingKind::kDeadlock);
  EXPECT_THAT(render_text(trace), Not(HasSubstr("\x1b")));
  const std::string coloured = render_text(trace, {.colour = true});
  EXPECT_THAT(coloured, StartsWith("\x1b[1;31mweft: deadlock in"));
}

TEST(Text, PathsAreWholeOutsideTheRoot) {
  const trace::Trace trace = sample_trace(FindingKind::kAssertion);
  EXPECT_THAT(render_text(trace, {.root = "/src/app"}), HasSubstr("  at transfer.cc:44\n"));
  EXPECT_THAT(render_text(trace, {.root = "/src/ap"}), HasSubstr("  at /src/app/transfer.cc:44\n"));
  EXPECT_THAT(render_text(trace, {.root = ""}), HasSubstr("  at /src/app/transfer.cc:44\n"));
}

TEST(Text, OfALongScheduleTheEndIsShown) {
  const trace::Trace trace = sample_trace(FindingKind::kAssertion);
  const std::string text = render_text(trace, {.schedule_lines = 2});
  EXPECT_THAT(text, HasSubstr("lines before"));
  EXPECT_THAT(text, Not(HasSubstr("spawn task 0.0")));
  EXPECT_THAT(text, HasSubstr("join task 0.0"));
}

TEST(Text, OfALongExecutionTheStepsInMemoryAreShown) {
  trace::Trace trace = sample_trace(FindingKind::kAssertion);
  trace.events_before = 9'000'000;
  const std::string text = render_text(trace);
  EXPECT_THAT(
      text, HasSubstr("Schedule (" + std::to_string(9'000'000 + trace.events.size()) + " steps; "));
  EXPECT_THAT(text,
              HasSubstr("  ... 9000000 steps before, which are in the trace but not shown\n"));
}

TEST(Text, OfALongOutputTheEndIsShown) {
  trace::Trace trace = sample_trace(FindingKind::kAssertion);
  trace.output.clear();
  for (int i = 0; i < 30; ++i) trace.output += "line " + std::to_string(i) + "\n";
  const std::string text = render_text(trace, {.output_lines = 3});
  EXPECT_THAT(text, HasSubstr("  ... 27 lines before\n  line 27\n  line 28\n  line 29\n"));
}

TEST(Text, TheSubjectCannotDriveTheTerminal) {
  trace::Trace trace = sample_trace(FindingKind::kAssertion);
  trace.meta.scenario = "a\x1b[2J";
  trace.names.begin()->second = "A\r\n";
  const std::string text = render_text(trace);
  EXPECT_THAT(text, HasSubstr("a\\x1b[2J"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\r")));
}

TEST(Text, AStuckProgramWithoutACycleNamesAllThatWait) {
  trace::Trace trace = sample_trace(FindingKind::kDeadlock);
  for (trace::FindingTask& task : trace.finding.tasks) task.in_cycle = false;
  trace.finding.tasks[0].operation = trace::OpKind::kCondBlocked;
  trace.finding.tasks[0].waits_for = kNoTaskIndex;
  const std::string text = render_text(trace, {.root = "/src/app"});
  EXPECT_THAT(text, HasSubstr("Who waits\n  task 0\n    waits for a signal on B, at transfer.cc:21 "
                              "in transfer\n    holds A, taken at transfer.cc:20 in transfer\n"));
}

TEST(Text, ATraceOfNothingStillHasAHeadline) {
  trace::Trace trace;
  trace.finding.kind = FindingKind::kWorkerDied;
  EXPECT_EQ(render_text(trace),
            "weft: worker died in an unnamed test after 0 steps, 0 preemptions\n");
}

}  // namespace
}  // namespace weft::reports
