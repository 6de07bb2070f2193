// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: an execution that outgrows every buffer is found, printed, replayed and reported as any
// other: the token leads back to it, and the trace has every step. Method: runs
// subject/long_subject.cc as a user does; scripts/evidence long does the same with 10 million
// steps.

#include <gmock/gmock.h>

#include <filesystem>

#include "harness/cli/subject/run_program.h"

namespace weft::cli {
namespace {

using testing::HasSubstr;

class LongTest : public ProgramTest {
 protected:
  [[nodiscard]] Ran weft(const std::string& arguments, int steps = 100'000) const {
    return run("WEFT_LONG_STEPS=" + std::to_string(steps) + " " WEFT_LONG_SUBJECT " " + arguments);
  }
};

TEST_F(LongTest, ATokenBringsBackEveryStep) {
  const Ran found = weft("run long/count --strategy pos --out found");
  ASSERT_EQ(found.status, 1) << found.err;
  std::string directory;
  for (const auto& entry : std::filesystem::directory_iterator(directory_ + "/found")) {
    directory = "found/" + entry.path().filename().string();
  }
  // Too long to paste.
  EXPECT_THAT(found.out, HasSubstr(" replay " + directory + "/token.weft\n"));

  const Ran replayed = weft("replay " + directory + " --times 2 --trace again.weft");
  EXPECT_EQ(replayed.status, 1) << replayed.err;
  EXPECT_THAT(replayed.out, HasSubstr("long/count: 2 replays, the same finding every time"));

  const std::string steps = rest_of_line(replayed.out, "Schedule (");
  EXPECT_THAT(steps, HasSubstr(" steps; "));
  EXPECT_GT(std::stoull(steps), 100'000u);
  for (const std::string& trace : {directory, std::string("again.weft")}) {
    const Ran report = weft("report " + trace);
    EXPECT_EQ(report.status, 0) << report.err;
    EXPECT_EQ(rest_of_line(report.out, "Schedule ("), steps);
    EXPECT_THAT(report.out, HasSubstr(" steps before, which are in the trace but not shown\n"));
  }
}

TEST_F(LongTest, ATraceThatCannotBeWrittenIsOneLine) {
  const Ran found = weft("run long/count --out found", 2000);
  ASSERT_EQ(found.status, 1) << found.err;
  const Ran replayed = weft("replay found/* --trace no/such/place.weft", 2000);
  EXPECT_EQ(replayed.status, 2);
  EXPECT_THAT(replayed.out, HasSubstr("the same finding every time"));
  EXPECT_THAT(replayed.err, HasSubstr("cannot create no/such/place.weft"));
}

TEST_F(LongTest, AFullDiskIsOneLineAndKeepsWhatWasFound) {
  const Ran limited = run("ulimit -f 40; WEFT_LONG_STEPS=2000000 " WEFT_LONG_SUBJECT
                          " run long/count --strategy pos --max-steps 10000000 --out limited");
  EXPECT_EQ(limited.status, 2);
  EXPECT_THAT(limited.err, HasSubstr("long/count: the choice log does not fit on the disk: make "
                                     "room where temporary files go"));
}

}  // namespace
}  // namespace weft::cli
