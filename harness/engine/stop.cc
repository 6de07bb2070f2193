// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// An execution that stops for a debugger: at a finding, and before a step that somebody asked for.
#include <sys/syscall.h>
#include <unistd.h>

#include <string_view>

#include "harness/base/system_call.h"
#include "harness/base/text_buffer.h"
#include "harness/engine/debugger.h"
#include "harness/engine/execution.h"

namespace weft::engine {

void Execution::stop_at_finding() noexcept {
  if (!config_.debugger && !being_traced()) return;
  const trace::Finding& finding = channel_.finding;
  FixedText<sizeof finding.message + 64> why;
  const std::string_view kind = trace::name(finding.kind);
  if (!std::string_view(finding.message).starts_with(kind)) why.append(kind).append(": ");
  why.append(finding.message);
  stop(tasks_[finding.task], why.c_str());
}

void Execution::stop_before_step(Task& performing) noexcept {
  stop_before_ = kNoStep;
  stop(performing, "this step is about to happen");
}

void Execution::stop(Task& about, const char* why) noexcept {
  const InterceptionOff off;
  name_kernel_threads();
  executor_.thaw();
  if (config_.debugger && !being_traced()) await_debugger(channel_);
  FixedText<256> path;
  append_path(path, about);
  weft_stop_for_debugger(steps_, path.c_str(), trace::name(about.pending.kind),
                         reinterpret_cast<const void*>(about.pending.address), why);
  // Who quits a debugger wants no more of this worker.
  if (config_.debugger && !being_traced()) _exit(static_cast<int>(WorkerExit::kLeft));
}

void Execution::name_kernel_threads() const noexcept {
  for (std::size_t i = 0; i < task_count_; ++i) {
    const Task& task = tasks_.data()[i];
    if (task.kind != TaskKind::kThread) continue;
    FixedText<256> path;
    append_path(path, task);
    FixedText<256> name;
    if (task.state == TaskState::kEnded) {
      name.append(path.view()).append(" ended");
    } else {
      name.append("task ").append(path.view());
    }
    const bool fits = name.view().size() <= kMaxThreadName;
    name_kernel_thread(executor_.kernel_thread_of(task.slot), fits ? name.view() : path.view());
  }
  // The pool may be larger than this execution has needed so far.
  for (std::size_t slot = next_slot_; slot < trace::kMaxTasks; ++slot) {
    const std::int32_t tid = executor_.kernel_thread_of(slot);
    if (tid == 0) break;
    name_kernel_thread(tid, "no task");
  }
  name_kernel_thread(static_cast<std::int32_t>(system_call(SYS_getpid)), "weft");
}

/// As trace::task_path() has it.
void Execution::append_path(TextBuffer& text, const Task& task) const noexcept {
  if (task.kind == TaskKind::kStep) {
    text.append("timer");
  } else if (task.parent == kNoTaskIndex) {
    text.append('0');
  } else {
    append_path(text, tasks_.data()[task.parent]);
    text.append('.').append_uint(task.ordinal);
  }
}

}  // namespace weft::engine
