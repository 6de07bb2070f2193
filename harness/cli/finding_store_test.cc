// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Goal: a finding is on disk under a sane name, can be read back, and survives a disk that takes
// nothing. Method: a hand-made channel, as a worker leaves it.

#include "harness/cli/finding_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "harness/trace/token_file.h"
#include "harness/trace/trace_file.h"

namespace weft::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Unmap {
  void operator()(trace::Channel* channel) const { trace::unmap_channel(channel); }
};

class FindingStoreTest : public testing::Test {
 protected:
  FindingStoreTest() : channel_(trace::map_channel()) {
    char name[] = "/tmp/weft-store-XXXXXX";
    directory_ = ::mkdtemp(name);
    channel_->task_count = 1;
    channel_->tasks[0] = {.id = kRootTask};
    trace::Finding& finding = channel_->finding;
    finding.kind = trace::FindingKind::kAlways;
    finding.task = 0;
    finding.steps = 9;
    std::strcpy(finding.message, "not held");
    sighting_.execution = 3;
    sighting_.identity = 0x1122334455667788;
    sighting_.outcome.finding = finding;
    sighting_.failed = channel_.get();
  }
  ~FindingStoreTest() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] FoundBug store(const std::string& out, const cli::Setup& setup) const {
    return make_bug(sighting_, {.scenario = "classic/x.buggy", .step_cap = 100}, out, setup);
  }

  std::unique_ptr<trace::Channel, Unmap> channel_;
  engine::Sighting sighting_;
  std::string directory_;
  const cli::Setup setup_{.replay_command = "weft replay %TOKEN%",
                          .report_command = "weft report %DIRECTORY%"};
};

TEST(FindingName, IsAFileNameWhateverTheScenarioIsCalled) {
  EXPECT_EQ(finding_name("classic/lost_update.buggy", "always", 0xaabbccdd11223344),
            "classic-lost_update.buggy-always-11223344");
  EXPECT_EQ(finding_name("../../etc", "hang", 1), "-.-..-etc-hang-00000001");
  EXPECT_EQ(finding_name("", "hang", 1), "unnamed-hang-00000001");
  EXPECT_LT(finding_name(std::string(5000, 'x'), "deadlock", 1).size(), 200u);
}

TEST_F(FindingStoreTest, WhatIsOnDiskIsTheFindingAgain) {
  const FoundBug bug = store(directory_, setup_);
  EXPECT_EQ(bug.kind, "always");
  EXPECT_EQ(bug.message, "not held");
  EXPECT_EQ(bug.steps, 9u);
  EXPECT_EQ(bug.directory, directory_ + "/classic-x.buggy-always-55667788");
  EXPECT_THAT(bug.text, HasSubstr("weft replay " + bug.token + "\n"));
  EXPECT_THAT(bug.text, HasSubstr("weft report " + bug.directory + "\n"));

  const auto token = trace::load_token(bug.directory);
  ASSERT_TRUE(token) << token.error();
  EXPECT_EQ(token->scenario, "classic/x.buggy");
  EXPECT_EQ(trace::format_token(*token), bug.token);
  const auto trace = trace::read_trace(bug.directory);
  ASSERT_TRUE(trace) << trace.error();
  EXPECT_STREQ(trace->finding.message, "not held");
  for (const char* name : {"report.txt", "output.txt", "finding.json"}) {
    EXPECT_TRUE(std::filesystem::exists(bug.directory + "/" + name)) << name;
  }
}

TEST_F(FindingStoreTest, ADiskThatTakesNothingCostsOneLine) {
  const FoundBug bug = store("/proc/nowhere", setup_);
  EXPECT_EQ(bug.directory, "");
  EXPECT_THAT(bug.text, HasSubstr("this finding is not on disk: /proc/nowhere"));
  EXPECT_THAT(bug.text, HasSubstr("choose another place with --out"));
  EXPECT_THAT(bug.text, HasSubstr("weft replay " + bug.token));
  EXPECT_THAT(bug.text, Not(HasSubstr("weft report")));
}

TEST_F(FindingStoreTest, WhatWasExpectedIsNotKept) {
  cli::Setup setup = setup_;
  setup.expected = must_find("always");
  EXPECT_EQ(store(directory_, setup).directory, "");
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

TEST_F(FindingStoreTest, AHangNamesItsCaller) {
  trace::Finding& finding = channel_->finding;
  finding.kind = trace::FindingKind::kHang;
  std::strcpy(
      finding.message,
      "task 0 has not come back for 10 s: it is in read(0, ...); blocking input is not controlled");
  finding.task_count = 1;
  finding.tasks[0].index = 0;
  finding.tasks[0].stack.count = 1;
  finding.tasks[0].stack.frames[0] = {.module = 0, .offset = 0x1234};
  channel_->module_count = 1;
  std::strcpy(channel_->modules[0].path, "/nowhere/program");
  sighting_.outcome.hang.activity = "it is in read(0, ...)";
  const FoundBug bug = store(directory_, setup_);
  EXPECT_THAT(bug.message,
              HasSubstr("it is in read(0, ...), called from program+0x1234; blocking"));
}

}  // namespace
}  // namespace weft::cli
