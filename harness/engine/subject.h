// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The root task's body, and what the interception layer does around an execution.
#pragma once

#include "harness/engine/task.h"

namespace weft::engine {

/// What the root task runs; task.record points to one when run_root() begins.
struct RootBody {
  void (*body)(void*) = nullptr;
  void* argument = nullptr;
};

/// The root task's main; the intercept/ folder implements it. Lets exceptions through.
void run_root(Task& self);

/// Called by the controller after an execution and before the image is restored.
void forget_execution(Execution& execution) noexcept;

/// Called once in a new worker, before the snapshot.
void prepare_interception() noexcept;

}  // namespace weft::engine
