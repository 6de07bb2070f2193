// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tokens too long to paste live in files; wherever a token is taken, such a file is as good.
// Supervisor side.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "harness/trace/outcome.h"
#include "harness/trace/token.h"

namespace weft::trace {

/// A longer text is printed as the name of a file: 4 KB is what a terminal line (N_TTY's 4,095
/// bytes) still takes when pasted.
inline constexpr std::size_t kLongestPastedToken = 4095;

/// The name of a token's file within a finding's directory.
inline constexpr std::string_view kTokenFileName = "token.weft";

/// Writes `text` to `directory`/token.weft, broken into lines; returns the path.
[[nodiscard]] Outcome<std::string> write_token_file(const std::string& directory,
                                                    std::string_view text);

/// Reads what a user handed us: a token's text, the path of a file that holds one, or a directory
/// that holds such a file under its usual name.
[[nodiscard]] Outcome<Token> load_token(const std::string& text_or_path);

}  // namespace weft::trace
