// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the interception layer remembers of an execution.
#pragma once

#include <cstdint>

#include "harness/intercept/interpose.h"

namespace weft::intercept {

struct FormerHandler;
struct NamedSemaphore;
struct OpenLibrary;

/// Lives in the execution's arena.
struct PerExecution {
  std::uint64_t libc_random = 1;             // as by srand(1)
  NamedSemaphore* semaphores = nullptr;      // latest first
  OpenLibrary* libraries = nullptr;          // latest first
  FormerHandler* former_handlers = nullptr;  // of the signals that tasks gave others
  bool told_of_full_heap = false;
};

[[nodiscard]] inline PerExecution& per_execution(Task& self) noexcept {
  Execution& execution = *self.execution;
  if (execution.intercept_state == nullptr)
    execution.intercept_state = execution.arena().make<PerExecution>();
  return *static_cast<PerExecution*>(execution.intercept_state);
}

/// Of the signals that tasks gave others, the crash handlers included.
void give_handlers_back(Execution& execution) noexcept;
/// Of those that tasks left loaded.
void unload_libraries(const PerExecution& execution, engine::ProcessImage& image) noexcept;

}  // namespace weft::intercept
