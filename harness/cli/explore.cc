// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// weft::explore() and what a test framework's glue calls: declared by api/, put
// together here from parts that api/ may not know.

#include <errno.h>
#include <fmt/format.h>

#include <string>
#include <utility>

#include <weft/framework.h>

#include "harness/api/options.h"
#include "harness/base/process.h"
#include "harness/cli/finding_store.h"
#include "harness/cli/replay_session.h"
#include "harness/cli/session.h"
#include "harness/cli/terminal.h"
#include "harness/engine/process_image.h"
#include "harness/trace/token_file.h"

namespace weft {
namespace {

std::string& replay_command() {
  static std::string command;
  return command;
}

cli::Setup own_setup() {
  std::string replay = replay_command();
  if (replay.empty()) {
    replay = fmt::format("WEFT_REPLAY={} {}", cli::kTokenPlace,
                         cli::shell_word(::program_invocation_name));
  }
  const bool has_flags = !replay_command().empty();
  // A program of the user's own need not have a `weft` beside it; the whole report is a file.
  return {.replay_command = std::move(replay),
          .report_command = fmt::format("less {}/report.txt", cli::kDirectoryPlace),
          .options = has_flags ? cli::OptionStyle::kFramework : cli::OptionStyle::kEnvironment};
}

}  // namespace

Result explore(const Options& given, const std::function<void()>& body) {
  const engine::HarnessAllocations ours;
  Options options = given;
  if (options.name.empty()) options.name = ::program_invocation_short_name;
  Result result;
  result.error = options::apply_overrides(options);
  if (result.error.empty()) result.error = options::mistake_in(options);
  if (!result.error.empty()) return result;
  if (options.replay.empty()) {
    const cli::Setup setup = own_setup();
    result.error = cli::findings_refusal(options.out, setup.options);
    return result.error.empty() ? cli::explore(options, setup, body) : result;
  }

  const auto token = trace::load_token(options.replay);
  if (!token) {
    result.error = token.error();
  } else if (token->scenario != options.name) {
    result.error = fmt::format("the token is of '{}', not of '{}'", token->scenario, options.name);
  } else {
    return cli::as_result(cli::replay(*token, options, own_setup(), body, 1));
  }
  return result;
}

namespace framework {

void settle_process(char** argv) { disable_address_randomisation_by_reexec(argv); }

std::string replayed_test(std::string* error) {
  Options options;
  *error = options::apply_overrides(options);
  if (!error->empty() || options.replay.empty()) return {};
  const auto token = trace::load_token(options.replay);
  if (!token) {
    *error = token.error();
    return {};
  }
  return token->scenario;
}

void set_replay_command(const std::string& command) { replay_command() = command; }

}  // namespace framework
}  // namespace weft
