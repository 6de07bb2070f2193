// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <weft/framework.h>
#include <weft/gtest.h>

namespace weft::gtest {
namespace {

constexpr int kUserError = 2;

int complain(const std::string& error) {
  std::fprintf(stderr, "weft: %s\n", error.c_str());
  return kUserError;
}

bool has_test(const std::string& wanted) {
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const testing::TestSuite& suite = *all.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      if (wanted == std::string(suite.name()) + "." + suite.GetTestInfo(t)->name()) return true;
    }
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  framework::settle_process(argv);
  bool asks_for_help = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--weft_help") {
      std::fputs(framework::flag_help().c_str(), stdout);
      return 0;
    }
    asks_for_help |= argument == "--help" || argument == "-h";
  }
  testing::InitGoogleTest(&argc, argv);  // prints GoogleTest's own help
  if (asks_for_help) std::puts("\nWeftwork Options, for each WEFT_TEST: --weft_help lists them.");
  std::string error = framework::parse_command_line(&argc, argv);
  if (!error.empty()) return complain(error);
  framework::set_replay_command(std::string(argv[0]) + " --weft_replay=%TOKEN%");

  // The token says which test it belongs to; no other is to run.
  const std::string replayed = framework::replayed_test(&error);
  if (!error.empty()) return complain(error);
  if (!replayed.empty()) {
    if (!has_test(replayed)) {
      return complain("the token is of test " + replayed + ", which this program does not have");
    }
    // Whatever else would keep it from running.
    GTEST_FLAG_SET(filter, replayed);
    GTEST_FLAG_SET(also_run_disabled_tests, true);
    ::unsetenv("GTEST_TOTAL_SHARDS");
    ::unsetenv("GTEST_SHARD_INDEX");
  }
  return RUN_ALL_TESTS();
}

}  // namespace weft::gtest
