// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How tasks and objects of a trace are called in every message: by identity, so that two reports of
// one failure read alike. Supervisor side.
#pragma once

#include <span>
#include <string>

#include "harness/trace/trace.h"

namespace weft::trace {

/// The spawn path: "0" for the root, "0.1.0" for the first child of its second child, "timer".
[[nodiscard]] std::string task_path(std::span<const TaskRow> tasks, TaskIndex index);

/// The same, found by identity; "?" where no task has it.
[[nodiscard]] std::string task_path(std::span<const TaskRow> tasks, TaskId id);

/// "counter", "heap(0.1 #3)+16", "stack(0.1)-0x40", "task 0.1", "libc.so.6+0x1d3b20"; empty for
/// none.
[[nodiscard]] std::string describe_object(const Trace& trace, const ObjectId& object);

}  // namespace weft::trace
