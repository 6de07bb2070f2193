// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Which scenarios a PATTERN on the command line means.
#pragma once

#include <cstddef>
#include <string_view>

namespace weft {

/// Shell-style: '*' stands for any characters (a slash included), '?' for one.
[[nodiscard]] constexpr bool glob_matches(std::string_view glob, std::string_view text) noexcept {
  // Where to resume when a character fails: behind the latest star, one character further on.
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  std::size_t g = 0;
  std::size_t t = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      resume = t;
    } else if (g < glob.size() && (glob[g] == '?' || glob[g] == text[t])) {
      ++g;
      ++t;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

/// A pattern with '*' or '?' is a glob for the whole name; any other matches a part of it.
[[nodiscard]] constexpr bool pattern_matches(std::string_view pattern,
                                             std::string_view name) noexcept {
  if (pattern.find_first_of("*?") != std::string_view::npos) return glob_matches(pattern, name);
  return name.find(pattern) != std::string_view::npos;
}

}  // namespace weft
