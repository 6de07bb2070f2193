// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/engine/unwind.h"

#include <unwind.h>

#include "harness/engine/task.h"

namespace weft::engine {
namespace {

struct Walk {
  std::uintptr_t* frames;
  std::size_t capacity;
  std::size_t count;
  std::uintptr_t from;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  const std::uintptr_t pc = _Unwind_GetIP(context);
  if (pc == 0) return _URC_END_OF_STACK;
  // The harness's own frames lie inside the subject's call: start again there.
  if (pc == walk.from) walk.count = 0;
  if (walk.count == walk.capacity) return _URC_END_OF_STACK;
  walk.frames[walk.count++] = pc;
  return _URC_NO_REASON;
}

}  // namespace

std::size_t capture_stack(std::uintptr_t* frames, std::size_t capacity,
                          std::uintptr_t from) noexcept {
  const InterceptionOff off;  // the unwinder locks and initialises things at first use
  Walk walk{frames, capacity, 0, from};
  _Unwind_Backtrace(&visit, &walk);
  return walk.count;
}

}  // namespace weft::engine
