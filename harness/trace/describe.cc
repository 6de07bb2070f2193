// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/trace/describe.h"

#include <fmt/format.h>

namespace weft::trace {
namespace {

std::string basename_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string plus(std::uint64_t offset) {
  return offset == 0 ? std::string() : fmt::format("+{}", offset);
}

}  // namespace

std::string task_path(std::span<const TaskRow> tasks, TaskIndex index) {
  if (index >= tasks.size()) return "?";
  std::string path;
  for (;;) {
    const TaskRow& row = tasks[index];
    if (row.parent != kNoTaskIndex && row.ordinal == kTimerOrdinal) return "timer" + path;
    path.insert(0, std::to_string(row.ordinal));
    // A parent precedes its children, so this ends.
    if (row.parent == kNoTaskIndex || row.parent >= index) return path;
    path.insert(0, 1, '.');
    index = row.parent;
  }
}

std::string task_path(std::span<const TaskRow> tasks, TaskId id) {
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].id == id) return task_path(tasks, static_cast<TaskIndex>(i));
  }
  return "?";
}

std::string describe_object(const Trace& trace, const ObjectId& object) {
  const auto named = trace.names.find(object);
  if (named != trace.names.end()) return named->second;
  const std::string owner = task_path(trace.tasks, TaskId{object.owner});
  switch (object.space) {
    case ObjectSpace::kNone: return {};
    case ObjectSpace::kModule:
      for (const Module& module : trace.modules) {
        if (module.id == object.owner) {
          return fmt::format("{}+0x{:x}", basename_of(module.path), object.offset);
        }
      }
      return fmt::format("module+0x{:x}", object.offset);
    case ObjectSpace::kHeap:
      return fmt::format("heap({} #{}){}", owner, object.ordinal, plus(object.offset));
    case ObjectSpace::kStack: return fmt::format("stack({})-0x{:x}", owner, object.offset);
    case ObjectSpace::kTask: return fmt::format("task {}", owner);
    case ObjectSpace::kForeign: return fmt::format("0x{:x}", object.offset);
  }
  return {};  // a space that the reader would have refused
}

}  // namespace weft::trace
