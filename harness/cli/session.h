// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One exploration from options to result: strategies by name, findings as
// tokens, traces and reports on disk. weft::explore() and the commands are thin
// layers above it, because api/ itself may know neither strategies nor reports.
//
// Thread-safety: none; call from a process with a single thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <weft/scenario.h>
#include <weft/weft.h>

#include "harness/engine/explorer.h"
#include "harness/trace/collect.h"

namespace weft::cli {

/// Stands for the token in Setup::replay_command.
inline constexpr std::string_view kTokenPlace = "%TOKEN%";
/// Stands for the finding's directory in Setup::report_command.
inline constexpr std::string_view kDirectoryPlace = "%DIRECTORY%";

/// How the program's user names a field of Options.
enum class OptionStyle : std::uint8_t {
  kCommand,      // --hang-seconds
  kFramework,    // --weft_hang_seconds
  kEnvironment,  // WEFT_HANG_SECONDS
};
[[nodiscard]] std::string option_name(OptionStyle style, std::string_view field);

/// What the caller knows and Options does not say.
struct Setup {
  std::string replay_command = {};  // the line to paste; has kTokenPlace in it
  std::string report_command = {};  // likewise, with kDirectoryPlace
  Expectation expected = {};        // what it allows is not kept on disk
  OptionStyle options = OptionStyle::kCommand;
  bool progress = true;  // on standard error
  bool colour = false;   // in reports
};

/// Explores `body` with exactly these options; the environment and flags were applied before.
[[nodiscard]] Result explore(const Options& options, const Setup& setup,
                             const std::function<void()>& body);

/// Empty, or why this process cannot be explored: a user error with its mend.
[[nodiscard]] std::string refusal();

/// Empty, or why there is no executor of that name here: a user error with its mend.
[[nodiscard]] std::string executor_refusal(const Options& options);
/// Once in a process: empty, or why `auto` is not the fast executor.
[[nodiscard]] std::string executor_note(const Options& options);
/// What `options.executor` comes to here.
[[nodiscard]] engine::ExecutorKind executor_kind(const Options& options);
[[nodiscard]] engine::ExplorerConfig explorer_config(const Options& options);
[[nodiscard]] trace::RunFacts run_facts(const Options& options);

}  // namespace weft::cli
