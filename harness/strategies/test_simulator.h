// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A model of the engine for tests of strategies: tasks are coroutines that
// announce operations on numbered objects, and every decision goes through the
// whole Strategy interface in the engine's order. No threads, no real memory.
#pragma once

#include <algorithm>
#include <coroutine>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/engine/strategy.h"

namespace weft::strategies::testing {

using trace::OpKind;

class Simulator;

/// A task's body: `co_await sim.lock(kMutex)` and the like. Bodies are functions,
/// not capturing lambdas: a coroutine does not keep its lambda's captures alive. What they
/// co_await in a loop's or an if's condition g++ 12 compiles into a trap: they name it first.
struct Body {
  struct promise_type {  // NOLINT(readability-identifier-naming): the language's name
    Body get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

using Program = std::function<Body(Simulator&)>;

/// What one execution came to.
struct History {
  bool deadlock = false;
  bool failed = false;  // the program called fail()
  bool step_cap = false;
  std::string complaint;  // of the strategy
  std::vector<std::pair<TaskIndex, OpKind>> steps;
  std::vector<trace::Deviation> log;
  std::vector<trace::TaskRow> tasks;
  std::uint64_t operations = 0;
  [[nodiscard]] bool bug() const { return deadlock || failed; }
};

class Simulator {
 public:
  static constexpr TaskIndex kTimer = 1;
  static constexpr StepIndex kStepCap = 200'000;

  explicit Simulator(engine::Strategy& strategy) : strategy_(strategy) {}
  ~Simulator() {
    for (State& task : tasks_) {
      if (task.body) task.body.destroy();
    }
  }

  History run(const Program& program) {
    add_task(kRootTask, kNoTaskIndex, 0, engine::TaskKind::kThread).body = program(*this).handle;
    add_task(kRootTask.child(0xffff'ffff), 0, 0xffff'ffff, engine::TaskKind::kStep).pending.kind =
        OpKind::kTimerFire;
    now_running_ = 0;
    while (step()) {
    }
    strategy_.execution_ended(run_.steps.size());
    heed_complaint();
    for (const State& task : tasks_) run_.operations += task.operation_index;
    return std::move(run_);
  }

  // --- For programs. Each is one operation.
  struct Announce {
    Simulator& sim;
    trace::Operation operation;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) noexcept { sim.announced_ = operation; }
    std::int64_t await_resume() const noexcept { return sim.result_; }
  };
  Announce plain_read(int var) { return announce(OpKind::kPlainRead, var); }
  Announce plain_write(int var, std::int64_t value) {
    return announce(OpKind::kPlainWrite, var, value);
  }
  Announce load(int var) { return announce(OpKind::kAtomicLoad, var); }
  Announce store(int var, std::int64_t value) { return announce(OpKind::kAtomicStore, var, value); }
  Announce lock(int mutex) { return announce(OpKind::kMutexLock, mutex); }
  Announce unlock(int mutex) { return announce(OpKind::kMutexUnlock, mutex); }
  Announce wait(int condition, int mutex) { return announce(OpKind::kCondWait, condition, mutex); }
  Announce signal(int condition) { return announce(OpKind::kCondSignal, condition); }
  Announce yield() { return announce(OpKind::kYield, 0); }
  Announce sleep() { return announce(OpKind::kSleep, 0); }
  Announce choose(std::uint64_t count) {
    return announce(OpKind::kUserChoice, 0, static_cast<std::int64_t>(count));
  }
  Announce spawn(Program program) {
    spawning_ = std::move(program);
    return announce(OpKind::kSpawn, 0);
  }
  Announce join(std::int64_t task) { return announce(OpKind::kJoin, 0, task); }

  void fail() { run_.failed = true; }
  std::int64_t value(int var) { return variables_[var]; }

 private:
  struct State {
    TaskId id;
    TaskIndex parent = kNoTaskIndex;
    engine::TaskKind kind = engine::TaskKind::kThread;
    std::coroutine_handle<Body::promise_type> body;
    trace::Operation pending;
    std::uint64_t operation_index = 0;
    std::uint64_t accesses_until_point = trace::kNever;
    std::uint32_t children = 0;
    std::uint16_t decisions = 0;  // at the pending operation
    bool ended = false;
    bool timed_out = false;  // kSleep: may go on
  };

  Announce announce(OpKind kind, int object, std::int64_t argument = 0) {
    return {*this,
            {.kind = kind,
             .width = static_cast<std::uint8_t>(is_plain(kind) ? 8 : 0),
             .address = static_cast<std::uintptr_t>(object) * 64,
             .argument = static_cast<std::uint64_t>(argument)}};
  }

  State& add_task(TaskId id, TaskIndex parent, std::uint32_t ordinal, engine::TaskKind kind) {
    const auto index = static_cast<TaskIndex>(tasks_.size());
    State& task = tasks_.emplace_back();
    task.id = id;
    task.parent = parent;
    task.kind = kind;
    task.pending.kind = OpKind::kTaskBegin;
    task.operation_index = kind == engine::TaskKind::kThread ? 1 : 0;
    run_.tasks.push_back({.id = id, .parent = parent, .ordinal = ordinal});
    strategy_.task_created(index, id, kind);
    return task;
  }

  [[nodiscard]] bool enabled(TaskIndex index) {
    const State& task = tasks_[index];
    if (task.kind == engine::TaskKind::kStep) {
      return std::any_of(tasks_.begin(), tasks_.end(), [](const State& t) {
        return !t.ended && t.pending.kind == OpKind::kSleep && !t.timed_out;
      });
    }
    if (task.ended) return false;
    switch (task.pending.kind) {
      case OpKind::kMutexLock:
      case OpKind::kCondReacquire: return !owner_.contains(task.pending.address);
      case OpKind::kCondBlocked: return false;
      case OpKind::kSleep: return task.timed_out;
      case OpKind::kJoin: return tasks_[task.pending.argument].ended;
      default: return true;
    }
  }

  // One decision and what follows from it, up to the next point; false at the end.
  bool step() {
    if (run_.failed || !run_.complaint.empty()) return false;
    std::vector<engine::EnabledTask> candidates;
    for (std::size_t n = 0; n < tasks_.size(); ++n) {
      const auto i = static_cast<TaskIndex>(n);
      if (enabled(i))
        candidates.push_back(
            {i, tasks_[i].kind, tasks_[i].id, tasks_[i].operation_index, &tasks_[i].pending});
    }
    if (candidates.empty()) {
      run_.deadlock = std::any_of(tasks_.begin(), tasks_.end(), [](const State& t) {
        return t.kind == engine::TaskKind::kThread && !t.ended;
      });
      return false;
    }
    if (run_.steps.size() == kStepCap) {
      run_.step_cap = true;
      return false;
    }
    State& at = tasks_[now_running_];
    engine::Decision decision{.step = run_.steps.size(),
                              .enabled = candidates,
                              .fallback = 0,
                              .at = now_running_,
                              .at_operation = at.operation_index,
                              .nth = at.decisions,
                              .digest = digest_};
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (candidates[i].index == now_running_) decision.current = decision.fallback = i;
    }
    if (decision.current == engine::Decision::kNone && candidates.size() > 1 &&
        candidates[0].kind == engine::TaskKind::kStep) {
      decision.fallback = 1;
    }
    // What commutes is performed at once.
    const bool nobody_asked =
        candidates.size() == 1 ||
        (decision.current != engine::Decision::kNone && trace::commutes(at.pending.kind));
    const std::size_t position = !nobody_asked            ? strategy_.pick(decision)
                                 : candidates.size() == 1 ? 0
                                                          : decision.current;
    if (heed_complaint()) return false;
    if (position != decision.fallback) {
      log(trace::ChoiceKind::kSchedule, candidates[position].id.value, at.decisions);
    }
    if (!nobody_asked) ++at.decisions;
    const TaskIndex chosen = candidates[position].index;
    State& task = tasks_[chosen];
    run_.steps.emplace_back(chosen, task.pending.kind);
    // A plain access that was considered and went on leaves no mark: a replay does not consider it.
    const bool silent = chosen == now_running_ && is_plain(task.pending.kind);
    if (!silent) {
      digest_ =
          fold(digest_ + candidates.size(), (std::uint64_t{chosen} << 32) + task.operation_index);
    }
    task.accesses_until_point =
        strategy_.executed(chosen, task.pending, task.operation_index, run_.steps.size());
    if (task.kind == engine::TaskKind::kStep) {
      ++task.operation_index;
      for (State& sleeper : tasks_) sleeper.timed_out |= sleeper.pending.kind == OpKind::kSleep;
      return true;
    }
    now_running_ = chosen;
    perform(task);
    return true;
  }

  bool heed_complaint() {
    if (const engine::Complaint* complaint = strategy_.complaint())
      run_.complaint = complaint->message;
    return !run_.complaint.empty();
  }

  void log(trace::ChoiceKind kind, std::uint64_t value, std::uint16_t nth) {
    const State& at = tasks_[now_running_];
    run_.log.push_back({.task = at.id,
                        .operation = at.operation_index,
                        .value = value,
                        .nth = nth,
                        .kind = kind,
                        .digest = static_cast<std::uint16_t>(digest_)});
  }

  std::uint64_t choose_among(trace::ChoiceKind kind, std::uint64_t count,
                             std::span<const engine::EnabledTask> waiters) {
    if (count < 2) return 0;
    const State& at = tasks_[now_running_];
    const std::uint64_t value = strategy_.choose({.kind = kind,
                                                  .at = now_running_,
                                                  .at_operation = at.operation_index,
                                                  .step = run_.steps.size(),
                                                  .digest = digest_,
                                                  .count = count,
                                                  .tasks = waiters});
    if (value != 0) log(kind, waiters.empty() ? value : waiters[value].id.value, 0);
    digest_ = fold(digest_, value);
    return value;
  }

  // The running task's pending operation happens, then its code up to the next point.
  void perform(State& task) {
    if (access(task.pending, task)) advance();
  }

  // False when the task is not to go on: it has a further operation to announce, or waits.
  bool access(const trace::Operation& op, State& task) {
    const std::uintptr_t object = op.address;
    result_ = 0;
    switch (op.kind) {
      case OpKind::kPlainRead:
      case OpKind::kAtomicLoad: result_ = variables_[static_cast<int>(object / 64)]; break;
      case OpKind::kPlainWrite:
      case OpKind::kAtomicStore:
        variables_[static_cast<int>(object / 64)] = static_cast<std::int64_t>(op.argument);
        break;
      case OpKind::kMutexLock:
      case OpKind::kCondReacquire: owner_[object] = now_running_; break;
      case OpKind::kMutexUnlock: owner_.erase(object); break;
      case OpKind::kCondWait:
        owner_.erase(op.argument * 64);
        task.pending.kind = OpKind::kCondBlocked;
        new_operation(task);
        return false;
      case OpKind::kCondSignal: signal_one(object); break;
      case OpKind::kUserChoice:
        result_ =
            static_cast<std::int64_t>(choose_among(trace::ChoiceKind::kUser, op.argument, {}));
        break;
      case OpKind::kSpawn: {
        const auto index = static_cast<std::int64_t>(tasks_.size());
        const std::uint32_t ordinal = task.children++;
        State& child =
            add_task(task.id.child(ordinal), now_running_, ordinal, engine::TaskKind::kThread);
        child.body = spawning_(*this).handle;
        result_ = index;
        break;
      }
      case OpKind::kTaskEnd: task.ended = true; return false;
      default: break;
    }
    return true;
  }

  void signal_one(std::uintptr_t condition) {
    std::vector<engine::EnabledTask> waiters;
    for (std::size_t n = 0; n < tasks_.size(); ++n) {
      const auto i = static_cast<TaskIndex>(n);
      const State& task = tasks_[i];
      if (!task.ended && task.pending.kind == OpKind::kCondBlocked &&
          task.pending.address == condition) {
        waiters.push_back({i, task.kind, task.id, task.operation_index, &task.pending});
      }
    }
    if (waiters.empty()) return;
    const std::uint64_t position =
        choose_among(trace::ChoiceKind::kWaiter, waiters.size(), waiters);
    trace::Operation& pending = tasks_[waiters[position].index].pending;
    pending.kind = OpKind::kCondReacquire;
    pending.address = pending.argument * 64;
  }

  static void new_operation(State& task) {
    ++task.operation_index;
    task.decisions = 0;
  }

  // Runs the current task's code until it announces a point.
  void advance() {
    for (;;) {
      State& task = tasks_[now_running_];
      task.body.resume();
      new_operation(task);
      task.timed_out = false;
      task.pending = task.body.done() ? trace::Operation{.kind = OpKind::kTaskEnd} : announced_;
      if (!is_plain(task.pending.kind)) return;
      if (--task.accesses_until_point == 0) return;
      access(task.pending, task);
    }
  }

  engine::Strategy& strategy_;
  std::deque<State> tasks_;  // a deque: bodies spawn while a State is in use
  std::map<int, std::int64_t> variables_;
  std::map<std::uintptr_t, TaskIndex> owner_;
  TaskIndex now_running_ = 0;
  trace::Operation announced_;
  std::int64_t result_ = 0;
  Program spawning_;
  std::uint64_t digest_ = 1;
  History run_;
};

/// One execution from the strategy's point of view: next_execution to execution_ended.
inline History execute(engine::Strategy& strategy, const Program& program, std::uint64_t execution,
                       std::uint64_t seed) {
  strategy.next_execution(execution, fold(seed, execution));
  return Simulator(strategy).run(program);
}

/// The number of the first execution with a bug, or limit + 1.
inline std::uint64_t first_bug(engine::Strategy& strategy, const Program& program,
                               std::uint64_t seed, std::uint64_t limit) {
  for (std::uint64_t execution = 1; execution <= limit; ++execution) {
    if (execute(strategy, program, execution, seed).bug()) return execution;
  }
  return limit + 1;
}

}  // namespace weft::strategies::testing
