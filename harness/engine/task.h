// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A task: one controlled thread of control.
//
// Thread-safety: only the running task (or the controller between executions)
// touches any task; the executor's hand-off orders those accesses.
#pragma once

#include <pthread.h>

#include <cstdint>

#include "harness/base/ids.h"
#include "harness/engine/progress.h"
#include "harness/engine/strategy.h"
#include "harness/trace/choice.h"
#include "harness/trace/event.h"
#include "harness/trace/operation.h"

namespace weft::engine {

class Execution;

enum class TaskState : std::uint8_t {
  kReady,  // has announced its next operation, or is running up to it
  kEnded,  // will not run again
};

/// Whether what a task waits for has come: something outside, which the engine does not see change.
class Readiness {
 public:
  /// Asked of whichever task decides; changes nothing, errno included.
  [[nodiscard]] virtual bool is_ready() const noexcept = 0;

 protected:
  ~Readiness() = default;
};

struct Task {
  // Identity: written once, at creation.
  Execution* execution = nullptr;
  TaskId id;
  TaskIndex index = kNoTaskIndex;
  TaskIndex parent = kNoTaskIndex;
  std::uint32_t ordinal = 0;  // among the parent's children
  TaskKind kind = TaskKind::kThread;
  std::uint32_t slot = 0;  // the executor's; thread tasks only
  pthread_t thread = 0;    // its pthread_self(); likewise

  // Progress: written by the task itself.
  TaskState state = TaskState::kReady;
  std::uint64_t operation_index = 0;  // operations and plain accesses so far
  std::uint64_t last_operation = 0;   // operation_index at its latest that was no plain access
  std::uint64_t accesses_until_point = trace::kNever;
  std::uint64_t allocations = 0;  // ordinal of its next heap block
  Idleness idleness;
  std::uint32_t children = 0;
  std::uint16_t choices[static_cast<std::size_t>(trace::ChoiceKind::kCount)] =
      {};                         // made by this operation
  std::uint64_t unlikely_at = 0;  // the operation whose unlikely choices were counted last

  // The latest word of four bytes, a futex's size, that it wrote atomically.
  std::uintptr_t wrote_at = 0;
  std::uint32_t wrote = 0;

  // Regions that ThreadSanitizer's annotations open; they nest.
  std::uint32_t accesses_ignored = 0;  // no race is told of what it touches there
  std::uint32_t order_ignored = 0;     // nothing that it does there orders anything

  // What it waits for: written by the task, and by whoever wakes it.
  trace::Operation pending;
  std::uint32_t stack = trace::kNoStack;  // where it announced; the recorder's
  std::uint64_t wait_order = 0;           // when it joined a wait queue
  bool counted_as_timed = false;          // in Execution::timed_waits_
  bool waited = false;                    // for what `pending` is about, at some time
  StepIndex waits_since = 0;              // where waited
  std::uint64_t passed_over = 0;          // by others that took it since; where a bound is set
  std::uint64_t left_out = 0;             // steps in a row that it could have gone on instead
  bool forgiven = false;                 // could have gone on for longer than a fair strategy waits
  bool woken = false;                    // a signal or wake reached it
  bool timed_out = false;                // its deadline passed first
  const Readiness* readiness = nullptr;  // while it waits for something outside
  bool detached = false;
  bool joined = false;

  // How it starts; `record` belongs to the interception layer.
  void (*main)(Task&) = nullptr;
  void* record = nullptr;

  /// First code on the task's own thread. Lets exceptions through (executor/baton.cc says why).
  void run();
};

/// Which task the calling thread is, or null: outside an exploration, in the
/// controller, and while the harness works on a task's behalf. Everything that
/// intercepts the subject asks this first.
extern constinit thread_local Task* current_task
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/// Where libc keeps errno while one kernel thread runs all tasks; null: each thread has its own.
/// Written before the snapshot.
extern constinit int* shared_error_number __attribute__((visibility("hidden")));

/// While one lives, what the calling thread does is not the subject's doing.
class InterceptionOff {
 public:
  InterceptionOff() noexcept : task_(current_task) { current_task = nullptr; }
  ~InterceptionOff() { current_task = task_; }
  InterceptionOff(const InterceptionOff&) = delete;
  InterceptionOff& operator=(const InterceptionOff&) = delete;

 private:
  Task* task_;
};

}  // namespace weft::engine
