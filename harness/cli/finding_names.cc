// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/cli/finding_names.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "harness/base/prng.h"

namespace weft::cli {
namespace {

using trace::Channel;
using trace::Finding;
using trace::FindingKind;

// The subject may have overwritten the channel: no count and no index of it is believed.
class Collector {
 public:
  Collector(const Channel& channel, trace::Symbolizer& symbolizer)
      : modules_(channel.modules, std::min<std::size_t>(channel.module_count, trace::kMaxModules)),
        symbolizer_(symbolizer) {}

  void add(const trace::Stack& stack) {
    const std::size_t count = std::min<std::size_t>(stack.count, trace::kMaxFrames);
    for (const Site site : std::span(stack.frames, count)) {
      if (site.module >= modules_.size()) continue;
      const std::string module = path_of(modules_[site.module]);
      for (trace::Frame& frame : symbolizer_.code(module, site.offset)) {
        add(std::move(frame.function));
        add(std::move(frame.file));
      }
      add(module);
    }
  }

  void add(const ObjectId& object) {
    if (object.space != ObjectSpace::kModule) return;
    for (const trace::ModuleRow& row : modules_) {
      if (row.id == object.owner) return add(symbolizer_.data(path_of(row), object.offset));
    }
  }

  [[nodiscard]] std::vector<std::string> take() && { return std::move(names_); }

 private:
  static std::string path_of(const trace::ModuleRow& row) {
    return {row.path, ::strnlen(row.path, sizeof row.path)};
  }
  void add(std::string name) {
    if (!name.empty()) names_.push_back(std::move(name));
  }

  const std::span<const trace::ModuleRow> modules_;
  trace::Symbolizer& symbolizer_;
  std::vector<std::string> names_;
};

}  // namespace

std::vector<std::string> names_of(const Channel& channel, trace::Symbolizer& symbolizer) {
  Collector names(channel, symbolizer);
  const Finding& finding = channel.finding;
  names.add(finding.object);
  // A race's first two; the third says only where the block comes from.
  const std::size_t sides = std::min<std::size_t>(finding.access_count, 2);
  for (const auto& access : std::span(finding.accesses, sides)) names.add(access.stack);
  if (sides != 0) return std::move(names).take();

  const std::span tasks(finding.tasks,
                        std::min<std::size_t>(finding.task_count, trace::kMaxFindingTasks));
  const bool cycle = std::any_of(tasks.begin(), tasks.end(),
                                 [](const trace::FindingTask& task) { return task.in_cycle; });
  for (const trace::FindingTask& task : tasks) {
    // Where every task waits and there is no cycle, all of them are the deadlock.
    if (cycle && !task.in_cycle) continue;
    if (finding.kind == FindingKind::kStarvation && task.index != finding.starved.waiter) continue;
    names.add(task.object);
    names.add(task.stack);
  }
  return std::move(names).take();
}

std::uint64_t lines_of_race(const Channel& channel, trace::Symbolizer& symbolizer) {
  const Finding& finding = channel.finding;
  if (finding.access_count < 2) return 0;
  std::uint64_t lines = 0;
  for (const auto& access : std::span(finding.accesses, 2)) {
    if (access.stack.count == 0) return 0;
    const Site site = access.stack.frames[0];
    if (site.module >= std::min<std::size_t>(channel.module_count, trace::kMaxModules)) return 0;
    const trace::ModuleRow& row = channel.modules[site.module];
    const auto frames =
        symbolizer.code({row.path, ::strnlen(row.path, sizeof row.path)}, site.offset);
    if (frames.empty() || frames.front().line == 0) return 0;
    std::uint64_t place = trace::is_atomic(access.kind) ? 1 : 0;
    for (const trace::Frame& frame : frames) {
      place = fold(place, hash_text(frame.file.data(), frame.file.size()));
      place = fold(place, frame.line);
    }
    lines += place;
  }
  // A stack's variables have no name that all executions share; better twice than not at all.
  return fold(fold(1, lines), finding.place != 0 ? finding.place : finding.object.hash());
}

}  // namespace weft::cli
