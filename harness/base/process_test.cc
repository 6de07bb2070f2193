// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: randomisation goes off by one re-execution, or its refusal is told; pinning leaves one
// processor. Method: in child processes, for both are for good.

#include "harness/base/process.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

namespace weft {
namespace {

// The arguments of this process with `--gtest_filter` naming only `test`.
std::vector<std::string> arguments_for(const std::string& test) {
  return {"process_test", "--gtest_filter=" + test, "--gtest_also_run_disabled_tests"};
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Runs `body` in a child and returns its exit status.
template <typename Body>
int in_child(Body&& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(99);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// Not a test: what the re-executed program runs.
TEST(ProcessReexecuted, DISABLED_ReportsWhatItFinds) {
  const bool asked = ::getenv(kReexecVariable) != nullptr;
  ::_exit(asked && !address_randomisation_active() ? 42 : 43);
}

TEST(ProcessTest, ReexecutionSwitchesRandomisationOffOrSaysWhyNot) {
  const int status = in_child([] {
    ::unsetenv(kReexecVariable);
    // Begin with it on, however this test was started.
    if (::personality(0) == -1) ::_exit(44);
    auto words = arguments_for("ProcessReexecuted.*");
    auto pointers = pointers_to(words);
    switch (disable_address_randomisation_by_reexec(pointers.data())) {
      case ReexecResult::kAlreadyOff: ::_exit(address_randomisation_active() ? 1 : 45);
      case ReexecResult::kRefused: ::_exit(address_randomisation_active() ? 44 : 1);
      case ReexecResult::kIneffective:
      case ReexecResult::kExecFailed: ::_exit(1);
    }
  });
  EXPECT_TRUE(status == 42 || status == 44 || status == 45) << "exit status " << status;
}

TEST(ProcessTest, TheVariableStopsALoop) {
  const int status = in_child([] {
    ::setenv(kReexecVariable, "1", 1);
    if (::personality(0) == -1 || !address_randomisation_active()) ::_exit(42);
    auto words = arguments_for("ProcessReexecuted.*");
    auto pointers = pointers_to(words);
    const ReexecResult result = disable_address_randomisation_by_reexec(pointers.data());
    ::_exit(result == ReexecResult::kIneffective ? 42 : 1);
  });
  EXPECT_EQ(status, 42);
}

TEST(ProcessTest, ActiveAgreesWithTheKernel) {
  std::ifstream file("/proc/sys/kernel/randomize_va_space");
  std::string mode = "0";
  file >> mode;
  const bool disabled = (::personality(0xffffffff) & ADDR_NO_RANDOMIZE) != 0;
  EXPECT_EQ(address_randomisation_active(), mode != "0" && !disabled);
}

TEST(ProcessTest, PinningLeavesOneProcessorAndWrapsAround) {
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
  const auto count = static_cast<unsigned>(CPU_COUNT(&allowed));
  const auto pinned_to = [](unsigned ordinal) {
    return in_child([ordinal] {
      const int cpu = pin_to_one_cpu(ordinal);
      cpu_set_t now;
      if (cpu < 0 || ::sched_getaffinity(0, sizeof now, &now) != 0) ::_exit(99);
      ::_exit(CPU_COUNT(&now) == 1 && CPU_ISSET(cpu, &now) ? cpu : 98);
    });
  };
  const int first = pinned_to(0);
  EXPECT_TRUE(CPU_ISSET(first, &allowed));
  EXPECT_EQ(pinned_to(count), first);
  if (count > 1) {
    EXPECT_NE(pinned_to(1), first);
  }
}

}  // namespace
}  // namespace weft
