// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the interception layer remembers of an execution.
#pragma once

#include <cstdint>

#include "harness/intercept/interpose.h"

namespace weft::intercept {

struct NamedSemaphore;
struct OpenLibrary;

/// Lives in the execution's arena.
struct PerExecution {
  std::uint64_t libc_random = 1;         // as by srand(1)
  NamedSemaphore* semaphores = nullptr;  // latest first
  OpenLibrary* libraries = nullptr;      // latest first
  bool told_of_full_heap = false;
  bool handlers_changed = false;  // of signals
};

[[nodiscard]] inline PerExecution& per_execution(Task& self) noexcept {
  Execution& execution = *self.execution;
  if (execution.intercept_state == nullptr)
    execution.intercept_state = execution.arena().make<PerExecution>();
  return *static_cast<PerExecution*>(execution.intercept_state);
}

/// Of those that tasks left loaded.
void unload_libraries(const PerExecution& execution, engine::ProcessImage& image) noexcept;

}  // namespace weft::intercept
