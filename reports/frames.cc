// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "reports/frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>

#include "reports/demangle.h"

namespace weft::reports {
namespace {

std::string_view basename_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool starts_with_any(std::string_view text, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return text.starts_with(prefix); });
}

constexpr std::string_view kLibraryFunctions[] = {"std::",     "__gnu_cxx::", "__cxxabiv1::",
                                                  "testing::", "__gthread",   "__cxa_",
                                                  "__libc_",   "_start"};
constexpr std::string_view kLibraryDirectories[] = {"/usr/include/", "/usr/lib/"};
constexpr std::string_view kLibraryModules[] = {"libc.so",   "libstdc++.so", "libgcc_s.so",
                                                "libm.so",   "ld-linux",     "libpthread.so",
                                                "libgtest.", "libgmock."};
constexpr std::string_view kHarnessFunctions[] = {"weft::", "__tsan_", "weft_call_on_stack",
                                                  "weft_begin_stack"};
// The parts that run within the subject; a project may have a directory `harness` of its own.
constexpr std::string_view kHarnessDirectories[] = {
    "/harness/api/",      "/harness/base/",      "/harness/detect/", "/harness/engine/",
    "/harness/executor/", "/harness/image/",     "/harness/model/",  "/harness/intercept/",
    "/harness/cudasim/",  "/harness/strategies/"};

Origin origin_of(const SourceFrame& frame, std::string_view module) {
  // The harness's own scenarios and tests are a user's code to it.
  const bool in_scenario = frame.file.find("/scenarios/") != std::string::npos;
  const bool in_harness = std::any_of(
      std::begin(kHarnessDirectories), std::end(kHarnessDirectories),
      [&](std::string_view directory) { return frame.file.find(directory) != std::string::npos; });
  if (!in_scenario && (in_harness || starts_with_any(frame.function, kHarnessFunctions))) {
    return Origin::kHarness;
  }
  if (starts_with_any(frame.function, kLibraryFunctions) ||
      starts_with_any(frame.file, kLibraryDirectories) ||
      starts_with_any(module, kLibraryModules)) {
    return Origin::kLibrary;
  }
  return Origin::kUser;
}

}  // namespace

std::vector<SourceFrame> frames_at(const trace::Trace& trace, Site site) {
  std::vector<SourceFrame> result;
  if (site == Site{}) return result;
  const std::string_view module = site.module < trace.modules.size()
                                      ? basename_of(trace.modules[site.module].path)
                                      : std::string_view("?");
  const auto known = trace.symbols.find(site);
  if (known != trace.symbols.end()) {
    for (const trace::Frame& frame : known->second) {
      SourceFrame& shown = result.emplace_back(SourceFrame{
          .function = short_function(frame.function), .file = frame.file, .line = frame.line});
      shown.origin = origin_of(shown, module);
    }
  }
  if (result.empty()) {
    SourceFrame& shown = result.emplace_back(SourceFrame{
        .function = fmt::format("{}+0x{:x}", module, site.offset), .file = {}, .line = 0});
    shown.origin = origin_of(shown, module);
  }
  return result;
}

std::vector<SourceFrame> frames_of(const trace::Trace& trace, const trace::Stack& stack) {
  std::vector<SourceFrame> result;
  for (const Site site : std::span(stack.frames, stack.count)) {
    auto frames = frames_at(trace, site);
    std::move(frames.begin(), frames.end(), std::back_inserter(result));
  }
  return result;
}

std::optional<SourceFrame> user_frame(const std::vector<SourceFrame>& frames) {
  const auto first = [&](auto&& wanted) -> std::optional<SourceFrame> {
    const auto found = std::find_if(frames.begin(), frames.end(), wanted);
    return found == frames.end() ? std::nullopt : std::optional(*found);
  };
  auto frame = first([](const SourceFrame& f) { return f.origin == Origin::kUser && f.line != 0; });
  if (!frame) frame = first([](const SourceFrame& f) { return f.origin == Origin::kUser; });
  if (!frame) frame = first([](const SourceFrame& f) { return f.line != 0; });
  return frame;
}

std::optional<SourceFrame> user_frame(const trace::Trace& trace, const trace::Event& event) {
  // The site alone, unless it lies in a library that did it on the user's behalf.
  const auto at_site = frames_at(trace, event.site);
  auto nearest = user_frame(at_site);
  if (nearest && nearest->origin == Origin::kUser && nearest->line != 0) return nearest;
  if (event.stack == trace::kNoStack) return nearest;
  const auto on_stack = user_frame(frames_of(trace, trace.stacks[event.stack]));
  return on_stack ? on_stack : nearest;
}

std::string place(const SourceFrame& frame, const std::string& root) {
  if (frame.file.empty()) return {};
  std::string_view file = frame.file;
  if (!root.empty() && file.starts_with(root) && file.size() > root.size() &&
      (root.back() == '/' || file[root.size()] == '/')) {
    file.remove_prefix(root.size());
    if (file.starts_with('/')) file.remove_prefix(1);
  }
  return frame.line == 0 ? std::string(file) : fmt::format("{}:{}", file, frame.line);
}

}  // namespace weft::reports
