// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Goal: flags, environment and initialisers set the right field, in the right order of precedence,
// and a bad value is named together with its mend. Method: the real table, a scratch environment,
// hand-made command lines.

#include "harness/api/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <weft/framework.h>

namespace weft::options {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const Field& field(std::string_view name) {
  for (const Field& candidate : fields()) {
    if (candidate.name == name) return candidate;
  }
  ADD_FAILURE() << "no field " << name;
  return fields()[0];
}

std::string set(Options& options, std::string_view name, std::string_view value) {
  return options::set(options, field(name), "--weft_" + std::string(name), value);
}

/// argv as main() gets it; what is left after parsing.
std::vector<std::string> take(std::vector<std::string> arguments, std::string* error) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(arguments.size());
  *error = take_flags(&argc, argv.data());
  return {argv.begin(), argv.begin() + argc};
}

TEST(OptionFields, EveryFieldIsSetFromText) {
  Options o;
  EXPECT_EQ(set(o, "schedules", "12"), "");
  EXPECT_EQ(o.schedules, 12u);
  EXPECT_EQ(set(o, "seconds", "0.5"), "");
  EXPECT_EQ(o.seconds, 0.5);
  EXPECT_EQ(set(o, "strategy", "pct:depth=3"), "");
  EXPECT_EQ(o.strategy, "pct:depth=3");
  EXPECT_EQ(set(o, "seed", "18446744073709551615"), "");
  EXPECT_EQ(o.seed, ~std::uint64_t{0});
  EXPECT_EQ(set(o, "jobs", "4"), "");
  EXPECT_EQ(o.jobs, 4u);
  EXPECT_EQ(set(o, "max_steps", "99"), "");
  EXPECT_EQ(o.max_steps, 99u);
  EXPECT_EQ(set(o, "memory_points", "0"), "");
  EXPECT_FALSE(o.memory_points);
  EXPECT_EQ(set(o, "races", "off"), "");
  EXPECT_FALSE(o.races);
  EXPECT_EQ(set(o, "leaks", "0"), "");
  EXPECT_FALSE(o.leaks);
  EXPECT_EQ(set(o, "spurious_wakeups", "2"), "");
  EXPECT_EQ(o.spurious_wakeups, 2u);
  EXPECT_EQ(set(o, "allocation_failures", "3"), "");
  EXPECT_EQ(o.allocation_failures, 3u);
  EXPECT_EQ(set(o, "executor", "baton"), "");
  EXPECT_EQ(o.executor, "baton");
  EXPECT_NE(set(o, "executor", "batton"), "");
  EXPECT_EQ(set(o, "keep_going", ""), "");
  EXPECT_TRUE(o.keep_going);
  EXPECT_EQ(set(o, "out", "/somewhere"), "");
  EXPECT_EQ(o.out, "/somewhere");
  EXPECT_EQ(set(o, "replay", "weft1.abc"), "");
  EXPECT_EQ(o.replay, "weft1.abc");
  EXPECT_EQ(set(o, "lenient", "yes"), "");
  EXPECT_TRUE(o.lenient);
  EXPECT_EQ(set(o, "hang_seconds", "2.5"), "");
  EXPECT_EQ(o.hang_seconds, 2.5);
  EXPECT_EQ(set(o, "suppressions", "weft.supp"), "");
  EXPECT_EQ(o.suppressions, "weft.supp");
  EXPECT_EQ(fields().size(), 18u);  // a new field needs a line above
}

TEST(OptionFields, BadValuesAreNamedWithTheMend) {
  Options o;
  EXPECT_EQ(set(o, "schedules", "0"), "--weft_schedules: '0' will not do; give a number from 1 up");
  for (const char* bad : {"", "-1", "1x", "1.5", " 1", "99999999999999999999999"}) {
    EXPECT_THAT(set(o, "schedules", bad), HasSubstr("give a number from 1 up")) << bad;
  }
  for (const char* bad : {"nan", "0", "-1", "soon", ""}) {
    EXPECT_THAT(set(o, "seconds", bad), HasSubstr("seconds above 0")) << bad;
  }
  EXPECT_THAT(set(o, "lenient", "maybe"), HasSubstr("give 1 or 0"));
  EXPECT_EQ(o.schedules, std::nullopt);
}

TEST(OptionFields, BadValuesInCodeAreNamedWithTheMend) {
  EXPECT_EQ(mistake_in({}), "");
  EXPECT_EQ(mistake_in({.schedules = 1, .seconds = 0.5, .executor = "baton"}), "");
  EXPECT_EQ(mistake_in({.schedules = 0}),
            "Options::schedules: '0' will not do; give a number from 1 up");
  EXPECT_THAT(mistake_in({.seconds = 0}), HasSubstr("Options::seconds: '0.000000' will not do"));
  EXPECT_THAT(mistake_in({.jobs = 0}), HasSubstr("Options::jobs"));
  EXPECT_THAT(mistake_in({.max_steps = 0}), HasSubstr("Options::max_steps"));
  EXPECT_EQ(mistake_in({.executor = "batn"}),
            "Options::executor: 'batn' will not do; take auto, alias, baton or fresh");
  EXPECT_THAT(mistake_in({.hang_seconds = -1}), HasSubstr("seconds above 0"));
  EXPECT_THAT(mistake_in({.hang_seconds = std::nan("")}), HasSubstr("Options::hang_seconds"));
}

TEST(OptionFlags, AreTakenOutOfTheCommandLine) {
  std::string error;
  EXPECT_THAT(take({"prog", "--weft_seed=7", "--gtest_repeat=2", "--weft_keep_going", "x"}, &error),
              ElementsAre("prog", "--gtest_repeat=2", "x"));
  EXPECT_EQ(error, "");
  Options o;
  EXPECT_EQ(apply_flags(o), "");
  EXPECT_EQ(o.seed, 7u);
  EXPECT_TRUE(o.keep_going);
}

TEST(OptionFlags, AFlagBeatsTheEnvironmentBeatsTheInitialiser) {
  std::string error;
  (void)take({"prog", "--weft_jobs=3"}, &error);
  ::setenv("WEFT_JOBS", "2", 1);
  ::setenv("WEFT_MAX_STEPS", "50", 1);
  Options o{.jobs = 1, .max_steps = 10, .hang_seconds = 4};
  EXPECT_EQ(apply_overrides(o), "");
  EXPECT_EQ(o.jobs, 3u);
  EXPECT_EQ(o.max_steps, 50u);
  EXPECT_EQ(o.hang_seconds, 4);
  ::unsetenv("WEFT_JOBS");
  ::unsetenv("WEFT_MAX_STEPS");
}

TEST(OptionFlags, UnknownAndIncompleteFlagsAreErrors) {
  std::string error;
  (void)take({"prog", "--weft_sede=7"}, &error);
  EXPECT_EQ(error, "--weft_sede=7: no such flag; --weft_help lists them");
  (void)take({"prog", "--weft_seed"}, &error);
  EXPECT_EQ(error, "--weft_seed: write --weft_seed=N");
  (void)take({"prog", "--weft_seed=x"}, &error);
  EXPECT_EQ(error, "--weft_seed: 'x' will not do; give a number from 0 up");
}

TEST(OptionEnvironment, ABadVariableIsNamed) {
  ::setenv("WEFT_SECONDS", "soon", 1);
  Options o;
  EXPECT_THAT(apply_environment(o), AllOf(HasSubstr("WEFT_SECONDS"), HasSubstr("'soon'")));
  ::unsetenv("WEFT_SECONDS");
}

TEST(OptionHelp, NamesEveryFlag) {
  for (const Field& f : fields()) {
    EXPECT_THAT(framework::flag_help(), HasSubstr(std::string("--weft_") + f.name));
  }
}

}  // namespace
}  // namespace weft::options
