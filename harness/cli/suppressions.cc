// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/cli/suppressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "harness/trace/file_io.h"

namespace weft::cli {
namespace {

using trace::FindingKind;

/// What an entry may begin with. A data race is passed over and its execution goes on; a
/// deadlock has nothing to go on with, so the exploration takes its next execution.
constexpr struct {
  std::string_view name;
  FindingKind kind;
} kKinds[] = {
    {"race", FindingKind::kDataRace},          {"deadlock", FindingKind::kDeadlock},
    {"lost_wakeup", FindingKind::kLostWakeup}, {"leak", FindingKind::kLeak},
    {"mutex", FindingKind::kLockMisuse},       {"thread", FindingKind::kThreadLeak},
    {"starvation", FindingKind::kStarvation},
};

std::string kind_names() {
  std::string names;
  for (const auto& kind : kKinds)
    names += fmt::format("{}{}:", names.empty() ? "" : ", ", kind.name);
  return names;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

void add_words(std::string& reason, std::string_view words) {
  if (words.empty()) return;
  if (!reason.empty()) reason += ' ';
  reason += words;
}

}  // namespace

bool suppression_matches(std::string_view pattern, std::string_view text) {
  const bool from_begin = pattern.starts_with('^');
  if (from_begin) pattern.remove_prefix(1);
  const bool to_end = pattern.ends_with('$');
  if (to_end) pattern.remove_suffix(1);

  // Piece after piece at its first place is enough: only the last one may be tied to an end.
  bool tied = from_begin;
  for (std::size_t star; (star = pattern.find('*')) != std::string_view::npos; tied = false) {
    const std::string_view piece = pattern.substr(0, star);
    const std::size_t at = text.find(piece);
    if (at == std::string_view::npos || (tied && at != 0)) return false;
    text.remove_prefix(at + piece.size());
    pattern.remove_prefix(star + 1);
  }
  if (tied && to_end) return text == pattern;
  if (tied) return text.starts_with(pattern);
  return to_end ? text.ends_with(pattern) : text.find(pattern) != std::string_view::npos;
}

trace::Outcome<Suppressions> Suppressions::load(const std::string& path) {
  constexpr std::size_t kMaxBytes = std::size_t{16} << 20;
  const auto text = trace::read_file(path, kMaxBytes);
  if (!text) return trace::Failure{text.error()};
  // Entries are named by places that a reader can open from here.
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string() + "/";
  return parse(path.starts_with(here) ? path.substr(here.size()) : path, *text);
}

trace::Outcome<Suppressions> Suppressions::parse(const std::string& name, std::string_view text) {
  Suppressions parsed;
  std::string reason;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = trimmed(take_line(text));
    if (line.starts_with('#')) {
      add_words(reason, trimmed(line.substr(std::min(line.find_first_not_of('#'), line.size()))));
      continue;
    }
    const std::string above = std::exchange(reason, {});
    if (line.empty()) continue;
    const std::string place = fmt::format("{}:{}", name, number);
    const auto wrong = [&](std::string_view what) {
      return trace::Failure{fmt::format("{}: '{}' {}", place, line, what)};
    };
    const std::size_t colon = line.find(':');
    const auto kind = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const auto& known) {
      return colon != std::string_view::npos && known.name == line.substr(0, colon);
    });
    if (kind == std::end(kKinds)) {
      return wrong(
          fmt::format("begins with none of {}, which are what can be suppressed", kind_names()));
    }
    const std::string_view pattern = trimmed(line.substr(colon + 1));
    if (pattern.empty()) return wrong("matches nothing; '*' stands for everything");
    if (above.empty()) {
      return wrong("has no reason; give it in a comment (# ...) on the line above");
    }
    parsed.rules_.push_back({kind->kind, std::string(pattern)});
    parsed.entries_.push_back({.entry = std::string(line), .place = place, .reason = above});
  }
  return parsed;
}

bool Suppressions::concern(FindingKind kind) const {
  return std::any_of(rules_.begin(), rules_.end(),
                     [&](const Rule& rule) { return rule.kind == kind; });
}

std::optional<std::size_t> Suppressions::match(FindingKind kind,
                                               std::span<const std::string> names) const {
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (rules_[i].kind != kind) continue;
    const bool matches = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return suppression_matches(rules_[i].pattern, name);
    });
    if (matches) return i;
  }
  return std::nullopt;
}

}  // namespace weft::cli
