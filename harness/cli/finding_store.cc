// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/cli/finding_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "harness/cli/json.h"
#include "harness/trace/file_io.h"
#include "harness/trace/token.h"
#include "harness/trace/token_file.h"
#include "harness/trace/trace_file.h"
#include "reports/symbols.h"
#include "reports/text.h"

namespace weft::cli {
namespace {

/// Longer scenario names are cut: a file name takes 255 bytes.
constexpr std::size_t kLongestStem = 150;

/// A new name in `directory` is on disk only when the directory is.
void flush_directory(const std::string& directory) {
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

/// Writes all files; an empty string, or the first that could not be written and why.
std::string write_all(const std::string& directory,
                      const std::vector<std::pair<std::string, std::string>>& files) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return fmt::format("{}: {}", directory, error.message());
  for (const auto& [name, text] : files) {
    const auto written = trace::write_file_atomically(directory + "/" + name, text);
    if (!written) return written.error();
  }
  flush_directory(directory);
  flush_directory(std::filesystem::path(directory).parent_path().string());
  return {};
}

/// The token's text, or the file that holds it where it is too long to paste.
std::string pasted_token(const FoundBug& bug) {
  if (bug.token.size() <= trace::kLongestPastedToken || bug.directory.empty()) return bug.token;
  return fmt::format("{}/{}", bug.directory, trace::kTokenFileName);
}

}  // namespace

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
                  const std::string& out, const PasteLines& lines, bool keep) {
  const trace::Channel& channel =
      sighting.recorded != nullptr ? *sighting.recorded : *sighting.failed;
  const trace::Finding& finding = sighting.outcome.finding;
  FoundBug bug;
  bug.kind = trace::name(finding.kind);
  bug.message = finding.message;
  bug.steps = finding.steps;
  bug.preemptions = finding.preemptions;
  bug.execution = sighting.execution;

  const auto token = trace::collect_token(*sighting.failed, facts);
  if (token) bug.token = trace::format_token(*token);
  const std::unique_ptr<trace::Symbolizer> symbolizer = reports::make_symbolizer();
  const trace::Trace trace = trace::collect_trace(channel, facts, bug.token, *symbolizer);
  bug.text = reports::render_text(trace);
  if (!token) bug.text += fmt::format("There is no token: {}\n", token.error());

  const std::string root = out.empty() ? kDefaultFindings : out;
  const std::string directory =
      root + "/" + finding_name(facts.scenario, bug.kind, sighting.identity);
  std::string trouble;
  if (keep) {
    std::vector<std::pair<std::string, std::string>> files = {
        {std::string(trace::kTraceFileName), trace::encode_trace(trace)},
        {"token.txt", bug.token + "\n"},
        {"report.txt", bug.text},
        {"output.txt", facts.output},
        {"finding.json", dump(finding_json(bug, facts)) + "\n"}};
    trouble = write_all(directory, files);
    if (trouble.empty() && bug.token.size() > trace::kLongestPastedToken) {
      const auto written = trace::write_token_file(directory, bug.token);
      if (!written) trouble = written.error();
    }
    if (trouble.empty()) bug.directory = directory;
  }
  if (!trouble.empty()) {
    bug.text +=
        fmt::format("This finding is not on disk: {}; choose another place with --out\n", trouble);
  }
  if (!bug.token.empty())
    bug.text += fmt::format("  {}{}\n", lines.replay_command, pasted_token(bug));
  if (!bug.directory.empty())
    bug.text += fmt::format("  {}{}\n", lines.report_command, bug.directory);
  return bug;
}

}  // namespace weft::cli
