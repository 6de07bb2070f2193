// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One run of the subject under one schedule: the algorithm in one place.
//
// A task that is about to do something observable announces it with point().
// There the engine asks the strategy which enabled task performs its announced
// operation next, hands the processor over, and comes back when it is the
// caller's turn. Between two points exactly one task runs, so everything here
// is sequential code.
//
//   point():   announce -> decide -> (switch) -> the caller performs its operation
//   refresh(): the caller changed a lock; recompute who is enabled
//   wake():    the caller's signal reached a waiter; its next operation is known
//
// Invariants
//  1. A task is in enabled_ iff it is ready and its announced operation would
//     succeed now (would_succeed()).
//  2. Every decision among several goes through the strategy, and every answer
//     that is not the stated default (trace/choice.h) is in the choice log.
//  3. Nothing here allocates from malloc or throws.
//
// Thread-safety: called by the running task, or by the controller while no task
// runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "harness/base/arena.h"
#include "harness/base/flat_map.h"
#include "harness/base/mapped_array.h"
#include "harness/base/text_buffer.h"
#include "harness/engine/bypass_bounds.h"
#include "harness/engine/executor.h"
#include "harness/engine/memory_watch.h"
#include "harness/engine/observer.h"
#include "harness/engine/process_image.h"
#include "harness/engine/strategy.h"
#include "harness/engine/task.h"
#include "harness/engine/task_set.h"
#include "harness/engine/worker.h"
#include "harness/model/happens_before.h"
#include "harness/model/lock_table.h"
#include "harness/model/virtual_time.h"
#include "harness/trace/channel.h"

namespace weft::engine {

inline constexpr TaskIndex kRootIndex = 0;
inline constexpr TaskIndex kTimerIndex = 1;

/// The latest wake at an address met nobody.
struct EmptyWake {
  trace::MissedWake wake;
  std::uint32_t told = 0;  // a futex's: the value that it told of
  bool knows = false;      // that value
};

class Execution {
 public:
  Execution(const WorkerConfig& config, trace::Channel& channel, Executor& executor,
            ProcessImage& image) noexcept;

  // --- The controller's part.

  /// Runs `body` on a root task of its own to the end. Does not return if there is a finding.
  /// `record` is the interception layer's record of the root.
  void run(Strategy& strategy, void (*main)(Task&), void* record) noexcept;
  bool add_observer(Observer& observer) noexcept;

  // --- For the interception layer, on the running task.

  /// First call on a task's own thread.
  void began(Task& task) noexcept {
    if (config_.debugger) [[unlikely]]
      name_kernel_threads();
    if (steps_ >= stop_before_) [[unlikely]]
      stop_before_step(task);
  }
  /// Announces `operation` and returns when the task may perform it.
  void point(Task& task, const trace::Operation& operation) noexcept {
    ++task.operation_index;
    task.last_operation = task.operation_index;
    plain_point(task, operation);
  }
  /// The same for a wait for something that the engine does not see change: asked before each
  /// decision whether it has come. The task finds itself `woken` where nothing else could run; it
  /// may then wait in real time.
  void wait_outside(Task& task, const trace::Operation& operation,
                    const Readiness& readiness) noexcept;
  /// The same as point() for a plain access whose countdown ran out; the access is already counted.
  void plain_point(Task& task, const trace::Operation& operation) noexcept {
    if (invariant_count_ != 0) [[unlikely]]
      check_invariants();
    // Here, so that it is built where it stays: to read at once, and wider, what was just written
    // to another place is what a processor does slowly.
    task.pending = operation;
    announced(task);
  }
  /// Reports what the operation just performed yielded.
  void yielded(Task& task, std::uint64_t value) noexcept {
    for (std::size_t i = 0; i < observer_count_; ++i) observers_[i]->yielded(task, value);
  }

  /// A new thread task, enabled at once; null when the system has no more threads
  /// (EAGAIN is the subject's to handle).
  Task* spawn(Task& parent, void (*main)(Task&), void* record) noexcept;
  /// The last thing a task does; returns when the thread may go back to its pool.
  void end(Task& task) noexcept;
  void detach(Task& task) noexcept;

  /// One of `count` numbers (0: any number).
  std::uint64_t choose(Task& task, trace::ChoiceKind kind, std::uint64_t count) noexcept;
  /// Whether something unlikely happens, as often as the options allow for `kind`.
  [[nodiscard]] bool happens(Task& task, trace::ChoiceKind kind) noexcept;
  /// One of the tasks that wait with `kind` at `address`, or null.
  Task* choose_waiter(Task& task, trace::OpKind kind, std::uintptr_t address,
                      std::uint64_t mask = ~std::uint64_t{0}) noexcept;
  /// Calls `visit` for every task that waits with `kind` at `address`; returns how many.
  std::uint64_t for_each_waiter(trace::OpKind kind, std::uintptr_t address,
                                void (*visit)(Task&)) noexcept;
  /// `task` woke `count` of those that wait at `address`; none at all may turn out to be a loss.
  void woke(const Task& task, std::uintptr_t address, std::uint64_t count) noexcept;
  /// `waiter` need not wait any longer: its pending operation becomes `next`.
  void wake(Task& waiter, const trace::Operation& next) noexcept;
  /// Something that operations on `address` depend on has changed.
  void refresh(std::uintptr_t address) noexcept;

  /// Ends the execution, and this process, with a finding.
  [[noreturn]] void fail(trace::FindingKind kind, const char* message, const char* file = nullptr,
                         int line = 0) noexcept;
  /// For signal handlers on the thread that the signal hit. `detail` is of several lines.
  [[noreturn]] void fail_in_signal(trace::FindingKind kind, int signal,
                                   std::uintptr_t fault_address, const char* detail) noexcept;
  /// How far fail() has come.
  enum class Reporting : std::uint8_t { kNot, kDescribing, kLeaving };
  [[nodiscard]] Reporting reporting() const noexcept { return reporting_; }
  /// Ends the execution with what has been described so far; describing the rest crashed.
  [[noreturn]] void leave_undescribed() noexcept;
  /// Likewise, where the watchdog's signal interrupted the task at `pc`.
  [[noreturn]] void fail_hung(std::uintptr_t pc) noexcept;

  /// What `self` did so far is handed over to whoever acquires `object`.
  void release(const Task& self, std::uintptr_t object) noexcept {
    memory_.synchronises(object);
    if (self.order_ignored != 0) return;
    if (ordering_.renews(self.index, self.operation_index, object, model::MemoryOrder::kRelease))
      return;
    ordering_.release(self.index, self.operation_index, object);
  }
  /// `self` has taken over from whoever released `object`: a try that succeeded, for one.
  void acquire(const Task& self, std::uintptr_t object) noexcept {
    progress_.changed();
    if (self.order_ignored != 0) return;
    ordering_.acquire(self.index, object);
  }

  /// The same for a task that is not at a point: `pc` is where it is.
  [[noreturn]] void fail_at(Task& task, std::uintptr_t pc, trace::FindingKind kind,
                            const char* message) noexcept;
  /// Whether the race of that identity is no reason to stop: it is known, or the
  /// replayed execution went on.
  [[nodiscard]] bool passes_over(Task& task, std::uint64_t identity) noexcept;

  /// The locks that `task` holds, and the stack of the calling task from `pc` outwards.
  void describe_locks(const Task& task, trace::HeldLock (&held)[trace::kMaxHeldLocks],
                      std::uint32_t& count) const noexcept;
  void describe_own_stack(std::uintptr_t pc, trace::Stack& stack) const noexcept;

  bool add_invariant(bool (*holds)(void*), void* context, const char* what) noexcept;

  /// May change what was foreseen.
  [[nodiscard]] BypassBounds& bypass_bounds() noexcept {
    foreseen_before_ = 0;
    return bypass_bounds_;
  }
  /// `self` takes `lock`, which is not noted yet; `pc` is where. Does not return where that passes
  /// over a waiting task once too often. Readers share, and so pass only writers over.
  void passes_over_waiters(Task& self, std::uintptr_t lock, std::uintptr_t pc,
                           bool shared = false) noexcept {
    if (bypass_bounds_.any()) [[unlikely]]
      pass_waiters_over(self, lock, pc, shared);
  }

  /// Whether a reader that comes to `lock` now must let a waiting writer go first.
  [[nodiscard]] bool holds_readers_back(std::uintptr_t lock) const noexcept;

  // --- What both sides look at.
  [[nodiscard]] Task& task(TaskIndex index) noexcept { return tasks_[index]; }
  [[nodiscard]] std::size_t task_count() const noexcept { return task_count_; }
  /// In creation order, the timer included.
  [[nodiscard]] std::span<Task> tasks() noexcept { return {tasks_.data(), task_count_}; }
  [[nodiscard]] model::LockTable& locks() noexcept { return locks_; }
  [[nodiscard]] model::VirtualTime& time() noexcept { return time_; }
  [[nodiscard]] model::HappensBefore& ordering() noexcept { return ordering_; }
  [[nodiscard]] MemoryWatch& memory() noexcept { return memory_; }
  [[nodiscard]] Progress& progress() noexcept { return progress_; }
  [[nodiscard]] ProcessImage& image() const noexcept { return image_; }
  [[nodiscard]] Executor& executor() noexcept { return executor_; }
  [[nodiscard]] trace::Channel& channel() const noexcept { return channel_; }
  [[nodiscard]] const WorkerConfig& config() const noexcept { return config_; }
  /// Memory that lasts until the execution ends.
  [[nodiscard]] Arena& arena() noexcept { return arena_; }
  [[nodiscard]] StepIndex steps() const noexcept { return steps_; }
  /// To which time jumps when the timer fires; kNever where nobody waits for it.
  [[nodiscard]] std::uint64_t earliest_deadline() const noexcept;
  [[nodiscard]] ObjectId object_of(std::uintptr_t address) const noexcept;
  [[nodiscard]] ObjectId object_of(const trace::Operation& operation) const noexcept;
  /// Slot for the interception layer's own per-execution state.
  void* intercept_state = nullptr;

 private:
  // schedule.cc
  [[nodiscard]] bool waits(const Task& task, trace::OpKind kind,
                           std::uintptr_t address) const noexcept {
    return task.state == TaskState::kReady && task.pending.kind == kind &&
           task.pending.address == address && !task.woken && !task.timed_out;
  }
  void announced(Task& task) noexcept;
  void schedule(Task& task) noexcept;
  void reschedule(Task& at) noexcept;
  [[nodiscard]] Task* decide(Task& at) noexcept;
  [[nodiscard]] bool leaves_by_default(const Task& at) const noexcept;
  [[nodiscard]] TaskIndex next_enabled(const Task& at) const noexcept;
  [[nodiscard]] Task& pick(Task& at) noexcept;
  void first_step(Task& root) noexcept;
  [[gnu::always_inline]] void account(const Task& at, Task& chosen) noexcept;
  void count_step(const Task& chosen) noexcept;
  void note_step(const Task& chosen) noexcept;
  [[noreturn]] void fail_for_length() noexcept;
  /// Nobody is asked about what commutes, for what comes of it changes nothing for the others, nor
  /// where there are no others.
  [[nodiscard]] bool goes_on_at_once(const Task& task) const noexcept {
    return (trace::commutes(task.pending.kind) || enabled_.count() == 1) &&
           enabled_.contains(task.index);
  }
  [[nodiscard]] bool goes_on_unasked(const Task& task) const noexcept;
  void go_on(Task& task) noexcept;
  [[nodiscard]] std::uint64_t foresee(const Task& task) const noexcept;
  [[nodiscard]] bool is_foreseen(const Task& task) const noexcept;
  void go_on_if_possible(Task& task) noexcept;
  /// Whether the task does something that may only look.
  [[nodiscard]] bool note_progress(Task& task) noexcept;
  void tell_unasked() noexcept;
  /// Tells the supervisor's watchdog that there is progress. The only writer: no read-modify-write.
  void beat() noexcept {
    channel_.heartbeat.store(channel_.heartbeat.load(std::memory_order_relaxed) + 1,
                             std::memory_order_relaxed);
  }
  void fire_timer() noexcept;
  void ask_outside() noexcept;
  [[nodiscard]] bool leave_to_the_outside() noexcept;
  [[nodiscard]] bool waits_to_write(const Task& task, std::uintptr_t lock) const noexcept {
    return task.state == TaskState::kReady && task.waited && !task.timed_out &&
           task.pending.address == lock &&
           trace::wait_kind(task.pending.kind) == trace::WaitKind::kWrite;
  }
  void set_enabled(Task& task) noexcept;
  [[nodiscard]] bool would_succeed(const Task& task) const noexcept;
  void log_deviation(Task& at, trace::ChoiceKind kind, std::uint64_t value,
                     TaskIndex value_index) noexcept;
  void update_timer() noexcept;
  void check_invariants() noexcept;
  [[nodiscard]] Choice choice_of(const Task& task, trace::ChoiceKind kind, std::uint16_t nth,
                                 std::uint64_t count,
                                 std::span<const EnabledTask> candidates = {}) const noexcept;
  void heed_complaint() noexcept;
  void tell_strategy(Task& performed) noexcept;
  void tell_observers(const Task& performed, bool preempted) noexcept;

  // execution.cc
  void begin(Strategy& strategy) noexcept;
  [[nodiscard]] bool start(Task& task) noexcept;
  Task& add_task(TaskId id, TaskIndex parent, std::uint32_t ordinal, TaskKind kind) noexcept;

  // starvation.cc
  void pass_waiters_over(Task& self, std::uintptr_t lock, std::uintptr_t pc, bool shared) noexcept;
  void forgive_unfairness(const Task& chosen) noexcept;

  // stop.cc
  void stop_at_finding() noexcept;
  void stop_before_step(Task& performing) noexcept;
  void stop(Task& about, const char* why) noexcept;
  void name_kernel_threads() const noexcept;
  void append_path(TextBuffer& text, const Task& task) const noexcept;

  // leftovers.cc
  void check_leftovers() noexcept;
  void check_overruns() noexcept;
  void check_leaks() noexcept;
  void blame_allocation(const HeapBlock& block) noexcept;

  // failure.cc
  void take_seen_stacks() noexcept;
  template <typename Visit>
  void for_each_awaited(const Task& task, Visit visit) const noexcept;
  [[nodiscard]] TaskIndex waits_for(const Task& task) const noexcept;
  [[noreturn]] void report_stuck(Task& at) noexcept;
  void report_cycle_through(Task& at) noexcept;
  void report_livelock(Task& at) noexcept;
  [[nodiscard]] bool find_lost_wake() noexcept;
  [[nodiscard]] static bool slept_through(const Task& task, const EmptyWake& wake) noexcept;
  void describe_tasks(Task& at) noexcept;
  [[nodiscard]] bool in_a_guard_page(std::uintptr_t address) const noexcept;
  [[noreturn]] void fail_described(Task& at, trace::FindingKind kind, const char* message,
                                   const char* file = nullptr, int line = 0,
                                   std::span<const TaskIndex> cycle = {}) noexcept;
  [[noreturn]] void leave_with_finding() noexcept;

  const WorkerConfig& config_;
  trace::Channel& channel_;
  Executor& executor_;
  ProcessImage& image_;
  Strategy* strategy_ = nullptr;
  Arena arena_;
  model::LockTable locks_;
  model::VirtualTime time_;
  model::HappensBefore ordering_{trace::kMaxTasks, arena_};
  MemoryWatch memory_{*this};
  Progress progress_;
  BypassBounds bypass_bounds_;
  FlatMap<EmptyWake> missed_wakes_{64};  // by address

  MappedArray<Task> tasks_;
  std::size_t task_count_ = 0;
  std::uint32_t next_slot_ = 0;
  TaskSet enabled_;
  MappedArray<EnabledTask> view_;  // scratch for decisions
  StepIndex steps_ = 0;
  StepIndex stop_before_ = kNoStep;  // for a debugger
  std::uint64_t digest_ = 0;
  std::uint64_t run_length_ = 0;   // points in a row of the running task
  TaskIndex last_ = kNoTaskIndex;  // who performed the latest step
  Reporting reporting_ = Reporting::kNot;
  Leeway leeway_;                      // of the task picked last
  std::uint64_t leeway_among_ = 0;     // the hash of enabled_, to which it is bound
  std::uint64_t unasked_ = 0;          // points at which it was made use of and nobody was told
  std::uint64_t unasked_until_ = 0;    // the operation of last_ at the latest of them
  std::uint64_t foreseen_before_ = 0;  // the running task goes on at its operations below that
  std::uint64_t next_wait_order_ = 0;
  std::uint32_t unlikely_left_[static_cast<std::size_t>(trace::ChoiceKind::kCount)] = {};
  std::size_t timed_waits_ = 0;    // tasks that wait with a deadline
  std::size_t outside_waits_ = 0;  // tasks that have a Readiness
  std::size_t live_attached_ =
      0;  // tasks that have not ended and are not detached, the root included
  StepIndex attached_ended_at_ = 0;  // the step after which only detached tasks were left

  static constexpr std::size_t kMaxObservers = 8;
  Observer* observers_[kMaxObservers] = {};
  std::size_t observer_count_ = 0;

  struct Invariant {
    bool (*holds)(void*) = nullptr;
    void* context = nullptr;
    const char* what = nullptr;
  };
  static constexpr std::size_t kMaxInvariants = 64;
  Invariant invariants_[kMaxInvariants];
  std::size_t invariant_count_ = 0;
  const char* checking_ = nullptr;  // the invariant that runs now
};

}  // namespace weft::engine
