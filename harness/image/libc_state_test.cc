// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/image/libc_state.h"

#include <time.h>
#include <unistd.h>

#include <clocale>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness/base/mapped_object.h"

namespace weft::image {
namespace {

std::vector<std::string> environment() {
  std::vector<std::string> variables;
  for (char** variable = ::environ; variable != nullptr && *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  return variables;
}

class LibcStateTest : public testing::Test {
 protected:
  LibcStateTest() : before_(::environ) {
    ::setenv("WEFT_LIBC_STATE", "before", 1);
    ::setenv("TZ", "UTC0", 1);
    state_->take(*memory_);
    memory_->take();
  }
  ~LibcStateTest() override {
    ::environ = before_;
    ::unsetenv("WEFT_LIBC_STATE");
    ::unsetenv("TZ");
  }

  void restore() {
    memory_->restore();
    state_->restore();
  }

  char** const before_;
  MappedObject<SavedMemory> memory_ = make_mapped<SavedMemory>();
  MappedObject<LibcState> state_ = make_mapped<LibcState>();
};

TEST_F(LibcStateTest, TheEnvironmentIsAsItWas) {
  const std::vector<std::string> taken = environment();
  for (int round = 0; round < 3; ++round) {
    EXPECT_STREQ(std::getenv("WEFT_LIBC_STATE"), "before");
    EXPECT_EQ(std::getenv("WEFT_ANOTHER"), nullptr);
    ::setenv("WEFT_LIBC_STATE", "after", 1);
    ::setenv("WEFT_ANOTHER", "1", 0);
    ::unsetenv("TZ");
    static char own[] = "WEFT_OWN=1";
    ::putenv(own);
    if (round == 1) ::clearenv();
    restore();
    EXPECT_EQ(environment(), taken);
  }
}

TEST_F(LibcStateTest, WhatIsWrittenIntoAVariableIsTakenBack) {
  std::getenv("WEFT_LIBC_STATE")[0] = 'B';
  EXPECT_STREQ(std::getenv("WEFT_LIBC_STATE"), "Before");
  restore();
  EXPECT_STREQ(std::getenv("WEFT_LIBC_STATE"), "before");
}

TEST_F(LibcStateTest, TheLocaleIsAsItWas) {
  const std::string taken = std::setlocale(LC_ALL, nullptr);
  ASSERT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr);
  ASSERT_NE(std::setlocale(LC_ALL, nullptr), taken);
  restore();
  EXPECT_EQ(std::setlocale(LC_ALL, nullptr), taken);
}

TEST_F(LibcStateTest, TheTimeZoneIsAsItWas) {
  ASSERT_EQ(::timezone, 0);
  ::setenv("TZ", "ABC-3", 1);
  ::tzset();
  ASSERT_EQ(::timezone, -3 * 3600);
  restore();
  EXPECT_EQ(::timezone, 0);
  const time_t epoch = 0;
  tm local{};
  EXPECT_EQ(::localtime_r(&epoch, &local)->tm_hour, 0);
}

}  // namespace
}  // namespace weft::image
