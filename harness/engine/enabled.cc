// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Who is enabled: whose announced operation would succeed now, and what changes that.
#include "harness/base/check.h"
#include "harness/engine/execution.h"
#include "harness/model/mutex.h"
#include "harness/model/once.h"
#include "harness/model/rwlock.h"
#include "harness/model/semaphore.h"
#include "harness/model/spin_lock.h"

namespace weft::engine {

using trace::OpKind;

bool Execution::would_succeed(const Task& task) const noexcept {
  const trace::Operation& op = task.pending;
  // A deadline ends a timed lock; a condition variable's wait that timed out still needs its mutex.
  const bool expired = task.timed_out && op.deadline != trace::kNever;
  switch (trace::wait_kind(op.kind)) {
    case trace::WaitKind::kNone: return true;
    case trace::WaitKind::kLock:
      return expired || model::is_free(*reinterpret_cast<const pthread_mutex_t*>(op.address)) ||
             model::lock_returns(*reinterpret_cast<const pthread_mutex_t*>(op.address),
                                 locks_.holder(op.address) == task.index);
    case trace::WaitKind::kRead:
      return expired ||
             (model::read_lock_returns(*reinterpret_cast<const pthread_rwlock_t*>(op.address),
                                       locks_.holder(op.address) == task.index) &&
              !holds_readers_back(op.address));
    case trace::WaitKind::kWrite:
      return expired ||
             model::write_lock_returns(*reinterpret_cast<const pthread_rwlock_t*>(op.address),
                                       locks_.holder(op.address) == task.index);
    case trace::WaitKind::kSemaphore:
      return expired || model::semaphore_value(*reinterpret_cast<const sem_t*>(op.address)) != 0;
    case trace::WaitKind::kSpin:
      return model::is_free(*reinterpret_cast<const pthread_spinlock_t*>(op.address));
    case trace::WaitKind::kOwner: {
      const TaskIndex holder = locks_.holder(op.address);
      return holder == kNoTaskIndex || holder == task.index;
    }
    case trace::WaitKind::kOutside:
      return task.woken || op.deadline <= time_.now() || task.readiness->is_ready();
    case trace::WaitKind::kWake: return task.woken || task.timed_out;
    case trace::WaitKind::kTime: return op.deadline <= time_.now();
    case trace::WaitKind::kTask:
      return task.timed_out || tasks_.data()[op.argument].state == TaskState::kEnded;
    case trace::WaitKind::kOnce:
      return !model::once::in_progress(reinterpret_cast<const pthread_once_t*>(op.address));
    case trace::WaitKind::kGuard:
      return !model::guard::in_progress(reinterpret_cast<const char*>(op.address));
  }
  WEFT_UNREACHABLE("an unknown kind of waiting");
}

void Execution::set_enabled(Task& task) noexcept {
  const bool waits = trace::wait_kind(task.pending.kind) != trace::WaitKind::kNone;
  const bool enabled = task.state == TaskState::kReady && (!waits || would_succeed(task));
  enabled_.assign(task.index, enabled);
  if (enabled && !task.counted_as_timed) [[likely]]
    return;
  if (!enabled) {
    task.left_out = 0;
    if (!task.waited || task.forgiven) {
      task.waits_since = steps_;
      task.passed_over = 0;
    }
    task.waited = true;
    task.forgiven = false;
  }
  const bool timed =
      !enabled && task.state == TaskState::kReady && task.pending.deadline != trace::kNever;
  if (timed == task.counted_as_timed) return;
  task.counted_as_timed = timed;
  timed ? ++timed_waits_ : --timed_waits_;
  enabled_.assign(kTimerIndex, timed_waits_ != 0);
}

void Execution::refresh(std::uintptr_t address) noexcept {
  for (Task& task : tasks()) {
    // Not the task that runs: it has performed what is still noted as pending.
    if (task.pending.address == address && task.index != last_ && task.state == TaskState::kReady &&
        task.kind == TaskKind::kThread) {
      set_enabled(task);
    }
  }
}

bool Execution::holds_readers_back(std::uintptr_t lock) const noexcept {
  if (!model::prefers_writers(*reinterpret_cast<const pthread_rwlock_t*>(lock))) return false;
  for (std::size_t i = 0; i < task_count_; ++i) {
    if (waits_to_write(tasks_.data()[i], lock)) return true;
  }
  return false;
}

void Execution::wake(Task& waiter, const trace::Operation& next) noexcept {
  waiter.pending = next;
  waiter.woken = true;
  waiter.waited = false;
  set_enabled(waiter);
}

std::uint64_t Execution::earliest_deadline() const noexcept {
  std::uint64_t earliest = trace::kNever;
  for (std::size_t i = 0; i < task_count_; ++i) {
    const Task& task = tasks_[i];
    if (task.counted_as_timed && task.pending.deadline < earliest) earliest = task.pending.deadline;
  }
  return earliest;
}

void Execution::fire_timer() noexcept {
  time_.advance_to(earliest_deadline());
  for (std::size_t i = 0; i < task_count_; ++i) {
    Task& task = tasks_[i];
    if (!task.counted_as_timed || task.pending.deadline > time_.now()) continue;
    task.timed_out = true;
    if (task.pending.kind == OpKind::kCondBlocked) {
      // Timed out of the condition variable; it still has to get its mutex back.
      task.pending = {.kind = OpKind::kCondReacquire,
                      .address = static_cast<std::uintptr_t>(task.pending.argument),
                      .pc = task.pending.pc};
      task.waited = false;
    }
    set_enabled(task);
    // A writer that gives up holds no reader back any more.
    if (trace::wait_kind(task.pending.kind) == trace::WaitKind::kWrite)
      refresh(task.pending.address);
  }
  ++tasks_[kTimerIndex].operation_index;
}

/// What was ready may no longer be: another task has taken it.
void Execution::ask_outside() noexcept {
  for (std::size_t i = 0; i < task_count_; ++i) {
    if (tasks_[i].readiness != nullptr) set_enabled(tasks_[i]);
  }
}

/// Nobody else can go on: one that waits for the outside may wait there, in real time.
bool Execution::leave_to_the_outside() noexcept {
  if (outside_waits_ == 0) return false;
  for (std::size_t i = 0; i < task_count_; ++i) {
    Task& task = tasks_[i];
    if (task.readiness == nullptr) continue;
    task.woken = true;
    set_enabled(task);
    return true;
  }
  return false;
}

}  // namespace weft::engine
