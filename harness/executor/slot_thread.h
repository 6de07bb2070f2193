// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A slot's kernel thread and its stack.
//
// A slot's stack is at a fixed address, the same in every process and under address
// randomisation, so that stack addresses and pthread_t values do not depend on the run. Tasks do
// not begin where the thread's own first frames happen to end, but a fixed distance below the top:
// the addresses of their variables are the same under every executor.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "harness/base/fake_stack.h"
#include "harness/engine/executor.h"

namespace weft::executor {

/// Of the stack on which fatal signals are handled: the unwinder needs about 10 KiB.
inline constexpr std::size_t kSignalStackBytes = 64 * 1024;

/// What kernel thread a slot has. Zero bytes: none.
struct SlotThread {
  pthread_t thread;
  std::atomic<std::int32_t> tid;  // 0 until the thread runs
  std::uintptr_t task_stack;      // where the stack of its tasks begins, downwards
  void (*serve)(void*);
  void* argument;
  std::size_t slot;
  bool exists;
  bool has_stack;
  asan::FakeStack fake_stack;
};

[[nodiscard]] engine::Executor::StackArea stack_area(std::size_t slot) noexcept;

/// Whether a kernel thread runs its tasks, or lends them its stack and identity.
enum class ThreadUse : std::uint8_t { kRuns, kParks };

/// Starts a kernel thread for `slot` that runs serve(argument), once `tid` and `task_stack` are
/// filled in. False when the system refuses; errno says why.
[[nodiscard]] bool start_thread(SlotThread& thread, std::size_t slot, void (*serve)(void*),
                                void* argument, ThreadUse use) noexcept;

/// The function that a task's stack begins with, under every executor.
void run_task(void* task);

}  // namespace weft::executor
