// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: a library that is not instrumented and does not come back is named, with its function, the
// task and what it is in. Method: runs subject/opaque_subject.cc as a user does; the library is a
// shared one, without the flags.

#include <gmock/gmock.h>

#include "harness/cli/subject/run_program.h"

namespace weft::cli {
namespace {

using testing::HasSubstr;

class OpaqueTest : public ProgramTest {
 protected:
  [[nodiscard]] Ran weft(const std::string& scenario) const {
    return run(std::string(WEFT_OPAQUE_SUBJECT) + " run " + scenario + " --hang-seconds 0.5");
  }
};

TEST_F(OpaqueTest, AReadIsNamed) {
  const Ran ran = weft("opaque/reads");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, testing::ContainsRegex(
                           "task 0\\.0 has not come back for 0\\.5 s: it is in read\\([0-9]+, "
                           "\\.\\.\\.\\), called from .*opaque_library\\.cc:[0-9]+, in "
                           "opaque::read_from\\(int\\) of libopaque\\.so, "
                           "which is not instrumented; blocking input is not controlled"));
}

TEST_F(OpaqueTest, AFutexOfItsOwnIsNamed) {
  const Ran ran = weft("opaque/waits");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out,
              testing::ContainsRegex(
                  "task 0\\.0 has not come back for 0\\.5 s: it is in "
                  "futex\\(\\.\\.\\.\\), called from .*opaque_library\\.cc:[0-9]+, in "
                  "opaque::wait_for\\(int const\\*\\) of libopaque\\.so, which is not "
                  "instrumented; it waits in the kernel without the scheduler's knowledge"));
}

TEST_F(OpaqueTest, ASpinIsNamed) {
  const Ran ran = weft("opaque/spins");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("task 0.0 has not come back for 0.5 s: it spins in "
                                 "opaque::spin_on(bool const volatile*) of libopaque.so, which is "
                                 "not instrumented: build that library with weft_instrument()"));
}

}  // namespace
}  // namespace weft::cli
