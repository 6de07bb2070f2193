// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One decided schedule point, as the recorder keeps it: plain data, no pointers.
#pragma once

#include <cstdint>

#include "harness/base/ids.h"
#include "harness/trace/operation.h"

namespace weft::trace {

inline constexpr std::uint32_t kNoStack = 0xffffffff;

struct Event {
  StepIndex step = 0;
  TaskIndex task = kNoTaskIndex;  // who performed the operation
  OpKind kind = OpKind::kNone;
  std::uint8_t width = 0;
  std::uint8_t order = 5;
  bool preempted = false;  // another enabled task was running before this step
  std::uint16_t enabled_count = 0;
  std::uint64_t operation_index = 0;  // the task's own count
  ObjectId object = {};
  std::uint64_t value = 0;  // value read, stored or returned by the operation
  std::uint64_t argument = 0;
  std::uint64_t time = 0;          // virtual nanoseconds
  std::uint64_t enabled = 0;       // enabled set before the step, tasks 0..63
  std::uint64_t digest = 0;        // history digest after the step
  Site site = {};                  // inside the call instruction, not past it
  std::uint32_t stack = kNoStack;  // index into the trace's stacks
};

}  // namespace weft::trace
