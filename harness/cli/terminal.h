// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is written for a person to read: numbers, colours, the line of progress.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "harness/engine/explorer.h"

namespace weft::cli {

/// The nearest whole number; 0 for a negative one.
[[nodiscard]] std::uint64_t rounded(double value);

/// "12,345".
[[nodiscard]] std::string with_commas(std::uint64_t value);

/// "1 finding", "2 findings".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view noun);

/// "0.012 s", "3.4 s", "75 s".
[[nodiscard]] std::string seconds_text(double seconds);

/// `text` as a shell reads it back; never taken for an option.
[[nodiscard]] std::string shell_word(const std::string& text);

enum class Style : std::uint8_t { kPlain, kBold, kRed, kGreen, kYellow };

/// Whether descriptor `fd` is a terminal and NO_COLOR is not set (no-color.org).
[[nodiscard]] bool is_coloured(int fd);

/// `text` in `style` where is_coloured(fd), as it is otherwise.
[[nodiscard]] std::string styled(std::string_view text, Style style, int fd);

/// Progress on standard error: one line rewritten on a terminal, a line each ten
/// seconds elsewhere. Nothing for an exploration that ends sooner.
class ProgressLine {
 public:
  explicit ProgressLine(std::string name);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void update(const engine::Progress& progress);

 private:
  using Clock = std::chrono::steady_clock;
  const std::string name_;
  const bool terminal_;
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point next_;
  bool shown_ = false;
};

/// The text of a line of progress.
[[nodiscard]] std::string progress_text(std::string_view name, const engine::Progress& progress);

}  // namespace weft::cli
