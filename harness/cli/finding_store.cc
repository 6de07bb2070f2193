// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/cli/finding_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "harness/cli/json.h"
#include "harness/cli/terminal.h"
#include "harness/trace/token.h"
#include "harness/trace/token_file.h"
#include "harness/trace/trace_file.h"
#include "reports/frames.h"
#include "reports/symbols.h"
#include "reports/text.h"

namespace weft::cli {
namespace {

/// Longer scenario names are cut: a file name takes 255 bytes.
constexpr std::size_t kLongestStem = 150;

/// On the screen the end of a long schedule is enough; report.txt has all of it.
constexpr std::size_t kScheduleLinesShown = 40;

/// A new name in `directory` is on disk only when the directory is.
void flush_directory(const std::string& directory) {
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

using Files = std::vector<std::pair<std::string, std::string>>;

/// Writes all that a finding's directory holds. Trace and token are flushed to the disk; `others`
/// can be made again from them. Returns an empty string, or the first file that could not be
/// written and why.
std::string write_all(const std::string& directory, const trace::Trace& trace,
                      const trace::Channel& recorded, const Files& others,
                      const std::string& token) {
  for (const auto& [name, text] : others) {
    std::ofstream file(std::filesystem::path(directory) / name, std::ios::binary);
    if (!(file << text).flush()) {
      return fmt::format("{}/{}: {}", directory, name, std::strerror(errno));
    }
  }
  trace::CollectedEvents events(recorded, trace);
  const auto traced =
      trace::write_trace(fmt::format("{}/{}", directory, trace::kTraceFileName), trace, events);
  if (!traced) return traced.error();
  if (!token.empty()) {
    const auto written = trace::write_token_file(directory, token);
    if (!written) return written.error();
  }
  return {};
}

/// `made` takes the place of `directory`, so that nobody sees files of two findings in it.
bool replace_directory(const std::string& made, const std::string& directory) {
  std::error_code error;
  if (::rename(made.c_str(), directory.c_str()) == 0) return true;
  if (errno != ENOTEMPTY && errno != EEXIST) return false;
  if (::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, directory.c_str(), RENAME_EXCHANGE) == 0) {
    std::filesystem::remove_all(made, error);
    return true;
  }
  // Not every file system can exchange.
  std::filesystem::remove_all(directory, error);
  return ::rename(made.c_str(), directory.c_str()) == 0;
}

/// Returns an empty string, or why there is no such directory now.
std::string make_directory(const std::string& directory, const trace::Trace& trace,
                           const trace::Channel& recorded, const Files& others,
                           const std::string& token) {
  const std::string parent = std::filesystem::path(directory).parent_path().string();
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  if (error) return fmt::format("{}: {}", parent, error.message());
  std::string made = directory + ".XXXXXX";
  if (::mkdtemp(made.data()) == nullptr) {
    return fmt::format("{}: {}", directory, std::strerror(errno));
  }
  // mkdtemp() makes private directories; findings are for whoever may read their parent.
  ::chmod(made.c_str(), 0755);
  std::string failure = write_all(made, trace, recorded, others, token);
  if (failure.empty() && !replace_directory(made, directory)) {
    failure = fmt::format("{}: {}", directory, std::strerror(errno));
  }
  // Half a finding would be taken for one.
  if (!failure.empty()) std::filesystem::remove_all(made, error);
  flush_directory(parent);
  return failure;
}

/// The token's text, or the file that holds it where it is too long to paste.
std::string pasted_token(const FoundBug& bug) {
  if (bug.token.size() <= trace::kLongestPastedToken || bug.directory.empty()) return bug.token;
  return fmt::format("{}/{}", bug.directory, trace::kTokenFileName);
}

std::string with(std::string command, std::string_view place, const std::string& value) {
  const std::size_t at = command.find(place);
  if (at != std::string::npos) command.replace(at, place.size(), value);
  return command;
}

std::vector<std::string> lines_to_paste(const FoundBug& bug, const Setup& setup) {
  std::vector<std::string> lines;
  if (!bug.token.empty()) {
    lines.push_back(with(setup.replay_command, kTokenPlace, shell_word(pasted_token(bug))));
  }
  if (!bug.directory.empty()) {
    lines.push_back(with(setup.report_command, kDirectoryPlace, shell_word(bug.directory)));
  }
  return lines;
}

/// The engine knows what the hung task is in; who called it needs the trace's symbols.
void name_caller(trace::Trace& trace, const engine::HangFacts& hang) {
  trace::Finding& finding = trace.finding;
  std::string message = finding.message;
  const std::size_t activity =
      hang.activity.empty() ? std::string::npos : message.find(hang.activity);
  if (finding.kind != trace::FindingKind::kHang || activity == std::string::npos) return;
  for (const trace::FindingTask& task : std::span(finding.tasks, finding.task_count)) {
    if (task.index != finding.task) continue;
    const auto frame = reports::user_frame(reports::frames_of(trace, task.stack));
    if (!frame) return;
    const std::string place = reports::place(*frame, reports::current_directory());
    message.insert(activity + hang.activity.size(),
                   ", called from " + (place.empty() ? frame->function : place));
    message.resize(std::min(message.size(), sizeof finding.message - 1));
    std::memcpy(finding.message, message.c_str(), message.size() + 1);
    return;
  }
}

}  // namespace

std::string findings_refusal(const std::string& out, OptionStyle style) {
  namespace fs = std::filesystem;
  fs::path place = out.empty() ? fs::path(kDefaultFindings) : fs::path(out);
  std::error_code error;
  const std::string wanted = place.string();
  // It is made with the first finding: what counts now is the nearest of its parents that there is.
  while (!fs::exists(place, error) && !place.empty()) place = place.parent_path();
  if (place.empty()) place = ".";
  if (!fs::is_directory(place, error)) {
    return fmt::format(
        "findings cannot be kept in {}: {} is not a directory; choose another with {}", wanted,
        place.string(), option_name(style, "out"));
  }
  // Permissions do not tell all: nobody can make anything in /proc.
  std::string trial = (place / ".weft-XXXXXX").string();
  if (::mkdtemp(trial.data()) == nullptr) {
    return fmt::format("findings cannot be kept in {}: {}: {}; choose another with {}", wanted,
                       place.string(), std::strerror(errno), option_name(style, "out"));
  }
  ::rmdir(trial.c_str());
  return {};
}

std::string finding_name(const std::string& scenario, const std::string& kind,
                         std::uint64_t identity) {
  std::string stem = scenario.empty() ? "unnamed" : scenario.substr(0, kLongestStem);
  for (char& c : stem) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_') c = '-';
  }
  if (stem.front() == '.') stem.front() = '-';
  return fmt::format("{}-{}-{:08x}", stem, kind, identity & 0xffffffff);
}

FoundBug make_bug(const engine::Sighting& sighting, const trace::RunFacts& facts,
                  const std::string& out, const Setup& setup) {
  FoundBug bug;
  bug.execution = sighting.execution;
  const auto token = trace::collect_token(*sighting.failed, facts);
  if (token) bug.token = trace::format_token(*token);
  const std::unique_ptr<trace::Symbolizer> symbolizer = reports::make_symbolizer();
  const trace::Channel& recorded =
      sighting.recorded != nullptr ? *sighting.recorded : *sighting.failed;
  trace::Trace trace = trace::collect_trace(recorded, facts, bug.token, *symbolizer);
  name_caller(trace, sighting.outcome.hang);
  bug.kind = trace::name(trace.finding.kind);
  bug.message = trace.finding.message;
  bug.steps = trace.finding.steps;
  bug.preemptions = trace.finding.preemptions;

  std::string trouble = token ? std::string() : fmt::format("there is no token: {}", token.error());
  if (!setup.expected.allows(bug.kind)) {
    bug.directory = fmt::format("{}/{}", out.empty() ? kDefaultFindings : out,
                                finding_name(facts.scenario, bug.kind, sighting.identity));
    const std::string failure =
        make_directory(bug.directory, trace, recorded,
                       {{"report.txt", reports::render_text(trace)},
                        {"output.txt", facts.output},
                        {"finding.json", dump(finding_json(bug, facts)) + "\n"}},
                       bug.token);
    if (!failure.empty()) {
      trouble = fmt::format("this finding is not on disk: {}; choose another place with {}",
                            failure, option_name(setup.options, "out"));
      bug.directory.clear();
    }
  }
  bug.text = reports::render_text(trace, {.colour = setup.colour,
                                          .schedule_lines = kScheduleLinesShown,
                                          .paste = lines_to_paste(bug, setup)});
  if (!trouble.empty()) bug.text += fmt::format("  weft: {}\n", trouble);
  return bug;
}

}  // namespace weft::cli
