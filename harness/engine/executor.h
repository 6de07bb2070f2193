// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How a task gets the processor. Nothing above this interface knows whether a
// switch is a futex hand-off between kernel threads or a change of stack.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>

#include "harness/base/ids.h"
#include "harness/trace/channel.h"

namespace weft::engine {

struct Task;

/// Thread-safety: called by whichever thread holds the baton (the controller or
/// the running task); never by two at once.
class Executor {
 public:
  virtual ~Executor() = default;

  /// Gives `task` a thread of its own in slot `slot` (0 for the root, then in
  /// creation order), which will run Task::run() when first resumed. False when
  /// the system refuses another thread; errno says why.
  virtual bool start(Task& task, std::size_t slot) noexcept = 0;

  /// Controller to task: runs tasks until one calls finish().
  virtual void run(Task& first) noexcept = 0;

  /// Parks `from` and resumes `to`; returns when somebody resumes `from`.
  virtual void switch_to(Task& from, Task& to) noexcept = 0;

  /// `from` has ended for good: resumes `to`. Called as the last thing on `from`'s thread; may
  /// return, so that the thread goes back to its pool or exits.
  virtual void leave(Task& from, Task& to) noexcept = 0;

  /// The last task ended: resumes the controller. May return likewise.
  virtual void finish(Task& from) noexcept = 0;

  /// Resumes the controller and parks `from` for ever.
  [[noreturn]] virtual void abandon(Task& from) = 0;

  /// Called by the controller between executions: whatever is still parked is dropped.
  virtual void recycle() noexcept = 0;

  /// The stack of a parked task, innermost frame first, as return addresses.
  /// Returns the number of frames written.
  virtual std::size_t parked_stack(Task& asking, Task& parked, std::uintptr_t* frames,
                                   std::size_t capacity) noexcept = 0;

  /// For a debugger: from here on every task that has not ended is on its own kernel thread, the
  /// caller included. Where the executor says so they all stay there for ever, but for the caller:
  /// its own code goes on, up to the next switch, which ends the process (WorkerExit::kLeft).
  virtual void thaw() noexcept = 0;

  /// The stack area of `slot`: [low, high). Fixed addresses, equal in every process.
  struct StackArea {
    std::uintptr_t low = 0;
    std::uintptr_t high = 0;
  };
  [[nodiscard]] virtual StackArea stack_area(std::size_t slot) const noexcept = 0;

  /// What pthread_self() is on `slot`'s thread; valid once started.
  [[nodiscard]] virtual pthread_t thread_of(std::size_t slot) const noexcept = 0;

  /// Where `address` lies for the task in `slot`: elsewhere where it is a word of libc's, errno,
  /// that every thread has of its own and all tasks use in one place.
  [[nodiscard]] virtual std::uintptr_t own_address(std::size_t slot,
                                                   std::uintptr_t address) const noexcept {
    return (void)slot, address;
  }

  /// Null, or why the code that is loaded now, by dlopen() for one, cannot run under this executor.
  [[nodiscard]] virtual const char* objection() noexcept { return nullptr; }

  /// The number of slot's kernel thread, whether or not it is the one that runs the slot's tasks.
  [[nodiscard]] virtual std::int32_t kernel_thread_of(std::size_t slot) const noexcept = 0;
};

class ProcessImage;

enum class ExecutorKind : std::uint8_t {
  kAlias,  // one kernel thread runs all tasks
  kBaton,  // a kernel thread per task, pooled
  kFresh,  // the same, a new one for each task
};

/// The executor for this worker, in memory of its own; the executor/ folder implements it.
[[nodiscard]] Executor& make_executor(ExecutorKind kind, ProcessImage& image,
                                      trace::Channel& channel) noexcept;

/// Null where this process can have the alias executor, else why it cannot. Found out once, by a
/// test in a process of its own. Supervisor side.
[[nodiscard]] const char* why_no_alias() noexcept;

}  // namespace weft::engine
