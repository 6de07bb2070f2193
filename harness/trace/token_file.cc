// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/trace/token_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "harness/trace/file_io.h"

namespace weft::trace {
namespace {

constexpr std::size_t kLineWidth = 100;
// 2^26 deviations of a random schedule are 64 MiB, 86 MiB in base64.
constexpr std::size_t kMaxFileBytes = std::size_t{256} << 20;

/// On one line, and harmless on a terminal.
std::string printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  }
  return text;
}

}  // namespace

Outcome<std::string> write_token_file(const std::string& directory, std::string_view text) {
  std::string lines;
  for (std::size_t at = 0; at < text.size(); at += kLineWidth) {
    lines.append(text.substr(at, kLineWidth)).push_back('\n');
  }
  return write_file_atomically(directory + "/" + std::string(kTokenFileName), lines);
}

Outcome<Token> load_token(const std::string& text_or_path) {
  if (looks_like_token(text_or_path)) return parse_token(text_or_path);
  std::error_code ignored;
  std::filesystem::path path(text_or_path);
  if (!std::filesystem::exists(path, ignored)) {
    return Failure{fmt::format("bad token: '{:.60}' neither starts with {} nor names a file",
                               printable(text_or_path), kTokenPrefix)};
  }
  if (std::filesystem::is_directory(path, ignored)) path /= kTokenFileName;
  const auto text = read_file(path.string(), kMaxFileBytes);
  if (!text) return Failure{text.error()};
  auto token = parse_token(*text);
  if (!token) return Failure{fmt::format("{}: {}", path.string(), token.error())};
  return token;
}

}  // namespace weft::trace
