// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A task's spawn path as reports and tokens print it: "0.1.2" is the root's
// second child's third child.
#pragma once

#include <span>

#include "harness/base/ids.h"
#include "harness/base/text_buffer.h"
#include "harness/trace/choice.h"

namespace weft::strategies {

/// A task that is not in the table is printed as its id.
inline void append_task_path(TextBuffer& text, std::span<const trace::TaskRow> tasks,
                             TaskId id) noexcept {
  std::size_t row = 0;
  while (row < tasks.size() && tasks[row].id != id) ++row;
  if (row == tasks.size()) {
    id == kRootTask ? text.append('0') : text.append('#').append_hex(id.value);
    return;
  }
  // Innermost first; deeper nesting than this is cut at the top.
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

}  // namespace weft::strategies
