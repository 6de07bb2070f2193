// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The file of what is known and not to be reported, in ThreadSanitizer's syntax,
// with one rule more: every entry has its reason. docs/suppressions.md specifies it.
//
//   # The statistics may be off by a few; they are for humans.
//   race:Cache::hits
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/weft.h>

#include "harness/trace/finding.h"
#include "harness/trace/outcome.h"

namespace weft::cli {

class Suppressions {
 public:
  Suppressions() = default;

  /// The error is one line that begins with the file's name.
  [[nodiscard]] static trace::Outcome<Suppressions> load(const std::string& path);
  /// `name` is the file's, for errors.
  [[nodiscard]] static trace::Outcome<Suppressions> parse(const std::string& name,
                                                          std::string_view text);

  /// Whether any entry is about findings of that kind.
  [[nodiscard]] bool concern(trace::FindingKind kind) const;

  /// The first entry for `kind` whose pattern one of `names` matches; an index into entries().
  [[nodiscard]] std::optional<std::size_t> match(trace::FindingKind kind,
                                                 std::span<const std::string> names) const;

  void count(std::size_t entry, std::uint64_t executions) { entries_[entry].hits += executions; }

  [[nodiscard]] const std::vector<Suppression>& entries() const { return entries_; }

 private:
  struct Rule {
    trace::FindingKind kind;
    std::string pattern;
  };
  std::vector<Rule> rules_;  // of the entry at the same index
  std::vector<Suppression> entries_;
};

/// '*' stands for any characters, '^' and '$' are the text's ends, and what is not tied
/// to an end may lie anywhere.
[[nodiscard]] bool suppression_matches(std::string_view pattern, std::string_view text);

}  // namespace weft::cli
