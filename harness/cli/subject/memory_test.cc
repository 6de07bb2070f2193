// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Goal: under AddressSanitizer a mistake with memory is laid at the right task's door, by its
// report and by ours, under each executor. Method: runs subject/memory_subject.cc as a user does.
// Slots' threads are AddressSanitizer's T1, T2, ...: task 0.0 is T2, task 0.1 is T3.

#include <gmock/gmock.h>

#include "harness/cli/subject/run_program.h"

namespace weft::cli {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

class MemoryTest : public ProgramTest, public testing::WithParamInterface<const char*> {
 protected:
  [[nodiscard]] Ran weft(const std::string& arguments) const {
    return run(std::string(WEFT_MEMORY_SUBJECT) + " " + arguments + " --executor " + GetParam());
  }
  /// The report, and what AddressSanitizer printed.
  [[nodiscard]] std::string found(const std::string& scenario) const {
    const Ran ran = weft("run " + scenario + " --races 0");
    EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
    const Ran output = run("cat weft-findings/*/output.txt");
    return ran.out + output.out;
  }
};

TEST_P(MemoryTest, AUseAfterFreeNamesWhoUsesAndWhoFreed) {
  EXPECT_THAT(found("memory/freed"),
              AllOf(HasSubstr("heap-use-after-free: writes 4 bytes at offset 0 of a block of 4"),
                    ContainsRegex("write of 4 bytes, by task 0.1"),
                    ContainsRegex("free of .*4 bytes, by task 0.0"),
                    HasSubstr("WRITE of size 4 at 0x"), ContainsRegex("at 0x[0-9a-f]+ thread T3")));
}

TEST_P(MemoryTest, AUseAfterReturnNamesWhoUsesAndWhoseVariableItWas) {
  EXPECT_THAT(
      found("memory/returned"),
      AllOf(HasSubstr("stack-use-after-return: writes 4 bytes"),
            HasSubstr("The accesses to stack(0.0)"), ContainsRegex("write of 4 bytes, by task 0.1"),
            ContainsRegex("WRITE of size 4 at 0x[0-9a-f]+ thread T3"),
            ContainsRegex("is located in stack of thread T2 at offset"), HasSubstr("'own'")));
}

TEST_P(MemoryTest, AStackOverflowNamesTheTask) {
  EXPECT_THAT(found("memory/endless_descent"),
              AllOf(HasSubstr("the task's stack overflowed"), HasSubstr("task 0.1 was running"),
                    HasSubstr("descend")));
}

TEST_P(MemoryTest, ATaskThatIsDroppedLeavesNothingForTheNextExecution) {
  const Ran ran = weft("run memory/dropped --leaks 0");
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("no finding in 20 executions"));
}

TEST_P(MemoryTest, VariablesLieAtTheSameAddressesUnderTheBaton) {
  const std::string command = "hash memory/dropped --schedules 5";
  const Ran here = weft(command);
  const Ran baton = run(std::string(WEFT_MEMORY_SUBJECT) + " " + command + " --executor baton");
  EXPECT_EQ(here.status, 0) << here.out << here.err;
  EXPECT_EQ(here.out, baton.out);
}

INSTANTIATE_TEST_SUITE_P(Executors, MemoryTest, testing::Values("alias", "baton", "fresh"),
                         [](const auto& executor) { return std::string(executor.param); });

}  // namespace
}  // namespace weft::cli
