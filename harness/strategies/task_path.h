// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A task's spawn path as reports and tokens print it: "0.1.2" is the root's
// second child's third child.
#pragma once

#include <cstdint>
#include <span>

#include "harness/base/ids.h"
#include "harness/base/text_buffer.h"
#include "harness/trace/choice.h"

namespace weft::strategies {

/// A task of the token's table. Deeper nesting than 32 is cut at the top.
inline void append_row_path(TextBuffer& text, std::span<const trace::TaskRow> tasks,
                            std::size_t row) noexcept {
  // Innermost first.
  constexpr std::size_t kDeepest = 32;
  std::uint32_t ordinals[kDeepest];
  std::size_t depth = 0;
  while (tasks[row].parent != kNoTaskIndex && depth < kDeepest) {
    ordinals[depth++] = tasks[row].ordinal;
    if (tasks[row].parent >= row)
      break;  // a table from outside: parents precede their children, or we stop
    row = tasks[row].parent;
  }
  text.append('0');
  while (depth > 0) text.append('.').append_uint(ordinals[--depth]);
}

/// `id` as a path, from the token's table or, for a task that it does not list,
/// from the tasks `created` in this execution, in their order.
inline void append_task_path(TextBuffer& text, std::span<const trace::TaskRow> tasks,
                             std::span<const TaskId> created, TaskId id) noexcept {
  if (id == kRootTask) return static_cast<void>(text.append('0'));
  if (id == kRootTask.child(trace::kTimerOrdinal)) return static_cast<void>(text.append("timer"));
  for (std::size_t row = 0; row < tasks.size(); ++row) {
    if (tasks[row].id == id) return append_row_path(text, tasks, row);
  }
  // An id is its parent's with the ordinal folded in, and no parent has more children than tasks.
  for (std::size_t parent = 0; parent < created.size() && created[parent] != id; ++parent) {
    for (std::uint32_t ordinal = 0; ordinal < created.size(); ++ordinal) {
      if (created[parent].child(ordinal) != id) continue;
      append_task_path(text, tasks, created.first(parent + 1), created[parent]);
      text.append('.').append_uint(ordinal);
      return;
    }
  }
  text.append('#').append_hex(id.value);
}

}  // namespace weft::strategies
