// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace weft::cli {
namespace {

/// Sooner than this a line on the terminal only flickers.
constexpr std::chrono::milliseconds kFirstLine(300);
constexpr std::chrono::milliseconds kTerminalPeriod(100);
constexpr std::chrono::seconds kLogPeriod(10);

bool is_terminal(int fd) {
  const char* term = std::getenv("TERM");
  return ::isatty(fd) != 0 && term != nullptr && std::string_view(term) != "dumb";
}

std::size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 80;
  return size.ws_col;
}

const char* escape_of(Style style) {
  switch (style) {
    case Style::kPlain: return "";
    case Style::kBold: return "\x1b[1m";
    case Style::kRed: return "\x1b[31m";
    case Style::kGreen: return "\x1b[32m";
    case Style::kYellow: return "\x1b[33m";
  }
  return "";
}

}  // namespace

std::uint64_t rounded(double value) {
  return value > 0 ? static_cast<std::uint64_t>(std::llround(value)) : 0;
}

std::string with_commas(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t place = digits.size(); place > 3;) {
    place -= 3;
    digits.insert(place, ",");
  }
  return digits;
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", with_commas(count), noun, count == 1 ? "" : "s");
}

std::string seconds_text(double seconds) {
  if (seconds < 1) return fmt::format("{:.3f} s", seconds);
  return seconds < 10 ? fmt::format("{:.1f} s", seconds) : fmt::format("{:.0f} s", seconds);
}

std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain = "%+,-./:=@_^";
  const auto is_plain = [&](unsigned char c) {
    return std::isalnum(c) != 0 || kPlain.find(static_cast<char>(c)) != std::string_view::npos;
  };
  std::string word = text.starts_with('-') ? "./" + text : text;
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

bool is_coloured(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  return is_terminal(fd) && (no_color == nullptr || *no_color == '\0');
}

std::string styled(std::string_view text, Style style, int fd) {
  if (style == Style::kPlain || !is_coloured(fd)) return std::string(text);
  return fmt::format("{}{}\x1b[0m", escape_of(style), text);
}

std::string progress_text(std::string_view name, const engine::Progress& progress) {
  const double rate =
      progress.seconds > 0 ? static_cast<double>(progress.executions) / progress.seconds : 0;
  return fmt::format(
      "{}: {}, {}/s, about {} distinct, {}", name, counted(progress.executions, "execution"),
      with_commas(static_cast<std::uint64_t>(rate)), with_commas(rounded(progress.distinct)),
      counted(progress.findings, "finding"));
}

ProgressLine::ProgressLine(std::string name)
    : name_(std::move(name)),
      terminal_(is_terminal(STDERR_FILENO)),
      next_(begin_ + (terminal_ ? kFirstLine : std::chrono::milliseconds(kLogPeriod))) {}

void ProgressLine::update(const engine::Progress& progress) {
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + (terminal_ ? kTerminalPeriod : std::chrono::milliseconds(kLogPeriod));
  std::string line = progress_text(name_, progress);
  if (terminal_) {
    // A line that wraps cannot be rewritten.
    if (line.size() >= terminal_width()) line.resize(terminal_width() - 1);
    line = "\r" + line + "\x1b[K";
  } else {
    line += '\n';
  }
  shown_ = true;
  (void)!::write(STDERR_FILENO, line.data(), line.size());
}

ProgressLine::~ProgressLine() {
  constexpr std::string_view kErase = "\r\x1b[K";
  if (terminal_ && shown_) (void)!::write(STDERR_FILENO, kErase.data(), kErase.size());
}

}  // namespace weft::cli
