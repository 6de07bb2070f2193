// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the glue to a test framework needs (<weft/gtest.h> is one): its command
// line, and a way for the framework's failed expectation to end an execution.
#pragma once

#include <string>

#include <weft/weft.h>

#pragma GCC visibility push(default)
namespace weft::framework {

/// Starts the process again without address-space randomisation, so that
/// addresses repeat from run to run. Goes on where that is refused. Call first in main().
void settle_process(char** argv);

/// Takes --weft_* flags out of the command line and remembers them: they overrule
/// the options of every explore() to come. Returns an empty string, or one line
/// that names the flag and the mend. Also checks WEFT_* in the environment.
[[nodiscard]] std::string parse_command_line(int* argc, char** argv);

/// The text behind --weft_help: one line per flag.
[[nodiscard]] std::string flag_help();

/// The name of the test that --weft_replay or WEFT_REPLAY speaks of; empty where
/// neither is given. A bad token is `error`.
[[nodiscard]] std::string replayed_test(std::string* error);

/// How a failure tells to run this test again, with %TOKEN% where the token goes:
/// "./my_test --weft_replay=%TOKEN%". Where nobody says, it names WEFT_REPLAY.
void set_replay_command(const std::string& command);

/// Ends the execution in progress with a finding of kind `expectation`. Call on a
/// task only (weft::exploring()); `file` may be null.
[[noreturn]] void fail(const char* file, int line, const char* message);

}  // namespace weft::framework
#pragma GCC visibility pop
