// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// weft::Options as text: one table of fields behind flags (--weft_seed=7), the
// environment (WEFT_SEED=7) and their help.
//
// Thread-safety: none; used by the supervisor's only thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <weft/weft.h>

namespace weft::options {

struct Field {
  const char* name;         // as in Options
  const char* placeholder;  // of the value; empty: a switch, true when named alone
  const char* help;
  /// Returns an empty string, or what is wrong with the value.
  std::string (*set)(Options& options, std::string_view value);
};

/// Every field of Options but its name.
[[nodiscard]] std::span<const Field> fields() noexcept;

/// Sets `field` from text; the error names `origin`, the value and the mend.
[[nodiscard]] std::string set(Options& options, const Field& field, std::string_view origin,
                              std::string_view value);

/// What is wrong with a field that was set in code, with the mend; empty: nothing. Names of files
/// and strategies are for others to judge.
[[nodiscard]] std::string mistake_in(const Options& options);

/// Applies WEFT_* of the environment. Variables that no field has are left to others.
[[nodiscard]] std::string apply_environment(Options& options);

/// Takes --weft_* flags out of argv and remembers them for apply_flags().
[[nodiscard]] std::string take_flags(int* argc, char** argv);

[[nodiscard]] std::string apply_flags(Options& options);

/// Environment, then flags: what an explore() of a user's own binary runs with.
[[nodiscard]] std::string apply_overrides(Options& options);

}  // namespace weft::options
