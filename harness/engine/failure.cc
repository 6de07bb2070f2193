// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Bad ends: what a finding says about every task, and how a worker leaves.
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "harness/base/check.h"
#include "harness/base/text_buffer.h"
#include "harness/detect/wait_cycle.h"
#include "harness/engine/execution.h"
#include "harness/engine/unwind.h"
#include "harness/engine/watchdog.h"

namespace weft::engine {
namespace {

using trace::FindingKind;
using trace::OpKind;

void copy_text(char* to, std::size_t capacity, const char* from) noexcept {
  std::size_t length = 0;
  if (from != nullptr) {
    for (; length + 1 < capacity && from[length] != '\0'; ++length) to[length] = from[length];
  }
  to[length] = '\0';
}

void store_stack(const ProcessImage& image, const std::uintptr_t* frames, std::size_t count,
                 trace::Stack& stack) noexcept {
  stack.count = 0;
  for (std::size_t i = 0; i < count && stack.count < trace::kMaxFrames; ++i) {
    // Return addresses point past their calls; the byte before is inside.
    stack.frames[stack.count++] = image.site_of(frames[i] - 1);
  }
}

}  // namespace

template <typename Visit>
void Execution::for_each_awaited(const Task& task, Visit visit) const noexcept {
  if (task.state == TaskState::kEnded || enabled_.contains(task.index)) return;
  switch (trace::wait_kind(task.pending.kind)) {
    case trace::WaitKind::kLock:
    case trace::WaitKind::kOnce:
    case trace::WaitKind::kGuard:
    case trace::WaitKind::kRead:
      if (holds_readers_back(task.pending.address) &&
          locks_.holder(task.pending.address) == kNoTaskIndex) {
        for (std::size_t i = 0; i < task_count_; ++i) {
          if (waits_to_write(tasks_.data()[i], task.pending.address)) visit(tasks_.data()[i].index);
        }
        return;
      }
      return locks_.for_each_holder(task.pending.address, visit);
    case trace::WaitKind::kWrite:
    case trace::WaitKind::kSpin:
    case trace::WaitKind::kOwner: return locks_.for_each_holder(task.pending.address, visit);
    case trace::WaitKind::kTask: return visit(static_cast<TaskIndex>(task.pending.argument));
    case trace::WaitKind::kNone:
    case trace::WaitKind::kWake:
    case trace::WaitKind::kTime:
    case trace::WaitKind::kSemaphore:
    case trace::WaitKind::kOutside: return;
  }
  WEFT_UNREACHABLE("an unknown kind of waiting");
}

TaskIndex Execution::waits_for(const Task& task) const noexcept {
  TaskIndex first = kNoTaskIndex;
  for_each_awaited(task, [&](TaskIndex other) {
    if (other < first || first == kNoTaskIndex) first = other;
  });
  return first;
}

void Execution::report_cycle_through(Task& at) noexcept {
  // Waits with a deadline end by themselves, so only hard edges count.
  const auto awaited = [this](TaskIndex task, auto visit) {
    if (tasks_.data()[task].pending.deadline == trace::kNever)
      for_each_awaited(tasks_.data()[task], visit);
  };
  // Most waits are for somebody who can run, and are no part of a cycle.
  bool leads_on = false;
  awaited(at.index, [&](TaskIndex other) { leads_on |= !enabled_.contains(other); });
  if (!leads_on) return;
  static_assert(trace::kMaxTasks <= 4096, "the arrays below are on the task's stack");
  TaskIndex cycle[trace::kMaxTasks];
  TaskIndex reached_from[trace::kMaxTasks];
  const std::size_t length =
      detect::find_cycle(at.index, awaited, {cycle, task_count_}, {reached_from, task_count_});
  if (length == 0) return;
  fail_described(at, FindingKind::kDeadlock,
                 length == 1 ? "a task waits for itself" : "tasks wait for each other in a cycle",
                 nullptr, 0, {cycle, length});
}

void Execution::report_livelock(Task& at) noexcept {
  if (enabled_.contains(kTimerIndex)) return;
  for (std::size_t i = 0; i < task_count_; ++i) {
    const Task& task = tasks_[i];
    if (enabled_.contains(task.index) && !progress_.spins(task.idleness)) return;
  }
  fail_described(at, FindingKind::kLivelock,
                 "every task that can run only looks, again and again, and nothing changes");
}

/// Whether the wake was meant for what `task` waits for, as it turns out at the end. A futex's
/// waiter sleeps on a value. If the word has another by now, the waiter was not told. If it sleeps
/// on the very value that the wake told of, it decided before and slept after. Otherwise the news
/// was outdated when the waiter looked: a count that was raised, and taken by somebody else, is no
/// loss. Of a condition variable only the program knows what its wakes are about.
bool Execution::slept_through(const Task& task, const EmptyWake& wake) noexcept {
  if (task.pending.kind != OpKind::kFutexBlocked) return true;
  const auto expected = static_cast<std::uint32_t>(task.pending.argument);
  const std::uint32_t now = __atomic_load_n(
      reinterpret_cast<const std::uint32_t*>(task.pending.address), __ATOMIC_RELAXED);
  return now != expected || !wake.knows || wake.told == expected;
}

bool Execution::find_lost_wake() noexcept {
  for (std::size_t i = 0; i < task_count_; ++i) {
    const Task& task = tasks_[i];
    if (task.state == TaskState::kEnded ||
        trace::wait_kind(task.pending.kind) != trace::WaitKind::kWake)
      continue;
    const EmptyWake* missed = missed_wakes_.find(task.pending.address);
    if (missed == nullptr || !slept_through(task, *missed)) continue;
    channel_.finding.missed_wake = {missed->wake.step, missed->wake.by, task.index};
    channel_.finding.object = object_of(task.pending);
    return true;
  }
  return false;
}

void Execution::report_stuck(Task& at) noexcept {
  if (find_lost_wake()) {
    fail_described(at, FindingKind::kLostWakeup,
                   "a task waits for ever: the latest wake came when nobody waited");
  }
  fail_described(at, FindingKind::kDeadlock, "every task waits and nothing can wake any of them");
}

void Execution::describe_tasks(Task& at) noexcept {
  trace::Finding& finding = channel_.finding;
  finding.task_count = 0;
  std::uintptr_t frames[trace::kMaxFrames + 16];
  for (std::size_t i = 0; i < task_count_ && finding.task_count < trace::kMaxFindingTasks; ++i) {
    Task& task = tasks_[i];
    if (task.kind != TaskKind::kThread) continue;
    trace::FindingTask& row = finding.tasks[finding.task_count++];
    row = trace::FindingTask{};
    row.index = task.index;
    row.operation_index = task.operation_index;
    if (task.state == TaskState::kEnded) continue;
    row.state =
        enabled_.contains(task.index) ? trace::TaskState::kRunnable : trace::TaskState::kBlocked;
    row.operation = task.pending.kind;
    row.object = object_of(task.pending);
    row.waits_for = waits_for(task);
    describe_locks(task, row.held, row.held_count);
    // A task that has not begun has no stack of its own yet.
    if (task.pending.kind == OpKind::kTaskBegin && &task != &at) continue;
    const std::size_t count = &task == &at
                                  ? capture_stack(frames, std::size(frames), task.pending.pc)
                                  : executor_.parked_stack(at, task, frames, std::size(frames));
    store_stack(image_, frames, count, row.stack);
  }
}

void Execution::describe_locks(const Task& task, trace::HeldLock (&held)[trace::kMaxHeldLocks],
                               std::uint32_t& count) const noexcept {
  count = 0;
  locks_.for_each_held_by(task.index, [&](const model::Hold& hold) {
    if (count == trace::kMaxHeldLocks) return;
    held[count++] = {object_of(hold.address), image_.site_of(hold.acquired_pc - 1)};
  });
}

void Execution::describe_own_stack(std::uintptr_t pc, trace::Stack& stack) const noexcept {
  std::uintptr_t frames[trace::kMaxFrames + 16];
  store_stack(image_, frames, capture_stack(frames, std::size(frames), pc), stack);
}

/// What this replay was to look out for is told in full.
void Execution::take_seen_stacks() noexcept {
  trace::Finding& finding = channel_.finding;
  for (std::uint32_t i = 0; i < finding.access_count; ++i) {
    const trace::FindingAccess& seen = channel_.seen[i];
    trace::FindingAccess& access = finding.accesses[i];
    if (access.stack.count <= 1 && seen.operation_index == access.operation_index &&
        seen.task == access.task)
      access = seen;
  }
}

void Execution::fail_at(Task& task, std::uintptr_t pc, FindingKind kind,
                        const char* message) noexcept {
  task.pending.pc = pc;
  trace::Finding& finding = channel_.finding;
  if (finding.access_count != 0) describe_own_stack(pc, finding.accesses[0].stack);
  take_seen_stacks();
  fail_described(task, kind, message);
}

void Execution::fail(FindingKind kind, const char* message, const char* file, int line) noexcept {
  Task* const task =
      current_task != nullptr ? current_task : &tasks_[last_ == kNoTaskIndex ? kRootIndex : last_];
  fail_described(*task, kind, message, file, line);
}

void Execution::fail_described(Task& at, FindingKind kind, const char* message, const char* file,
                               int line, std::span<const TaskIndex> cycle) noexcept {
  const InterceptionOff off;
  reporting_ = Reporting::kDescribing;
  trace::Finding& finding = channel_.finding;
  finding.kind = kind;
  finding.task = at.index;
  finding.steps = steps_;
  finding.preemptions = channel_.preemptions;
  copy_text(finding.message, sizeof finding.message, message);
  copy_text(finding.file, sizeof finding.file, file);
  finding.line = line;
  describe_tasks(at);
  for (const TaskIndex member : cycle) {
    for (std::uint32_t t = 0; t < finding.task_count; ++t) {
      if (finding.tasks[t].index == member) finding.tasks[t].in_cycle = true;
    }
  }
  leave_with_finding();
}

void Execution::leave_undescribed() noexcept {
  const std::span<char> detail(channel_.finding.detail);
  const std::size_t used = std::strlen(detail.data());
  TextBuffer(detail.subspan(used))
      .append(used == 0 ? "" : "\n")
      .append(
          "a stack could not be walked: something wrote over it, as through a pointer to a "
          "variable whose function has returned");
  leave_with_finding();
}

void Execution::fail_in_signal(FindingKind kind, int signal, std::uintptr_t fault_address,
                               const char* detail) noexcept {
  trace::Finding& finding = channel_.finding;
  finding.signal = signal;
  finding.fault_address = fault_address;
  copy_text(finding.detail, sizeof finding.detail, detail);
  FixedText<256> text;
  const char* name = sigabbrev_np(signal);
  text.append("fatal signal SIG").append(name == nullptr ? "?" : name);
  if (signal == SIGSEGV || signal == SIGBUS) text.append(" at address ").append_hex(fault_address);
  if (signal == SIGSEGV && in_a_guard_page(fault_address))
    text.append(": the task's stack overflowed");
  fail(kind, text.c_str());
}

void Execution::fail_hung(std::uintptr_t pc) noexcept {
  channel_.finding.signal = kWatchdogSignal;
  if (checking_ != nullptr) {
    FixedText<256> text;
    text.append("the invariant \"")
        .append(checking_)
        .append("\" does not return: it must neither lock nor wait");
    fail(FindingKind::kUserError, text.c_str());
  }
  if (current_task != nullptr) current_task->pending.pc = pc;
  const InterceptionOff off;
  std::uintptr_t frames[trace::kMaxFrames];
  const std::size_t count = capture_stack(frames, std::size(frames), pc);
  TextBuffer where(channel_.finding.detail);
  UninstrumentedCode code;
  if (image_.find_uninstrumented({frames, count}, code)) {
    where.append(code.file).append(" ").append(code.function);
  }
  fail(FindingKind::kHang, "a task did not come back to the engine");
}

bool Execution::in_a_guard_page(std::uintptr_t address) const noexcept {
  constexpr std::uintptr_t kGuardBytes = 4096;
  for (std::size_t i = 0; i < task_count_; ++i) {
    if (tasks_.data()[i].kind != TaskKind::kThread) continue;
    const std::uintptr_t low = executor_.stack_area(tasks_.data()[i].slot).low;
    if (address < low && low - address <= kGuardBytes) return true;
  }
  return false;
}

void Execution::leave_with_finding() noexcept {
  reporting_ = Reporting::kLeaving;
  channel_.schedule_digest = digest_;
  for (std::size_t i = 0; i < observer_count_; ++i) observers_[i]->execution_ended();
  channel_.strategy_state_size =
      strategy_->save(channel_.strategy_state, trace::kStrategyStateBytes);
  stop_at_finding();
  channel_.phase.store(trace::WorkerPhase::kFound, std::memory_order_relaxed);
  // release: pairs with the supervisor's acquire; the finding is complete when it shows.
  channel_.finding_ready.store(true, std::memory_order_release);
  if (config_.found != nullptr) config_.found(channel_, config_.found_context);
  _exit(static_cast<int>(WorkerExit::kFinding));
}

}  // namespace weft::engine
