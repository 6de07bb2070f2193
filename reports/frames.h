// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Stacks as a reader of a report wants them: source frames, and whose code each one is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/trace/trace.h"

namespace weft::reports {

enum class Origin {
  kUser,
  kLibrary,  // the standard library, libc, GoogleTest
  kHarness,
};

struct SourceFrame {
  std::string function;  // short; "test+0x1234" where nothing is known
  std::string file;
  std::uint32_t line = 0;
  Origin origin = Origin::kUser;
};

/// The source frames of one address, or of a stack: innermost first, inlined calls included.
[[nodiscard]] std::vector<SourceFrame> frames_at(const trace::Trace& trace, Site site);
[[nodiscard]] std::vector<SourceFrame> frames_of(const trace::Trace& trace,
                                                 const trace::Stack& stack);

/// Where the user's code did something: the innermost frame that is theirs, else the innermost one
/// with a line, else none.
[[nodiscard]] std::optional<SourceFrame> user_frame(const std::vector<SourceFrame>& frames);
[[nodiscard]] std::optional<SourceFrame> user_frame(const trace::Trace& trace,
                                                    const trace::Event& event);

/// "abba.cc:12"; the directory is cut off where it begins with `root`. Empty for an unknown file.
[[nodiscard]] std::string place(const SourceFrame& frame, const std::string& root);

}  // namespace weft::reports
