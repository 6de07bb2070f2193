// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The life of an execution and of its tasks. Decisions are in schedule.cc, bad
// ends in failure.cc.
#include "harness/engine/execution.h"

#include <new>

#include "harness/base/address_sanitizer.h"
#include "harness/base/check.h"
#include "harness/base/fake_stack.h"

namespace weft::engine {
namespace {

// Of address space; only touched pages count.
constexpr std::size_t kArenaBytes = std::size_t{256} << 20;
constexpr std::uint64_t kDigestSeed = 0x77656674776f726b;

}  // namespace

Execution::Execution(const WorkerConfig& config, trace::Channel& channel, Executor& executor,
                     ProcessImage& image) noexcept
    : config_(config),
      channel_(channel),
      executor_(executor),
      image_(image),
      arena_(kArenaBytes),
      tasks_(trace::kMaxTasks),
      view_(trace::kMaxTasks) {}

bool Execution::add_observer(Observer& observer) noexcept {
  if (observer_count_ == kMaxObservers) return false;
  observers_[observer_count_++] = &observer;
  return true;
}

bool Execution::add_invariant(bool (*holds)(void*), void* context, const char* what) noexcept {
  if (invariant_count_ == kMaxInvariants) return false;
  invariants_[invariant_count_++] = {holds, context, what};
  return true;
}

void Execution::begin(Strategy& strategy) noexcept {
  strategy_ = &strategy;
  arena_.reset();
  locks_.clear();
  time_.reset();
  ordering_.clear(task_count_);
  memory_.clear();
  progress_.clear();
  missed_wakes_.clear();
  bypass_bounds_.clear();
  task_count_ = 0;
  next_slot_ = 0;
  enabled_.clear();
  steps_ = 0;
  const bool warm_up = channel_.current.load(std::memory_order_relaxed) == 0;
  stop_before_ = warm_up == config_.stop_in_warm_up ? config_.stop_before : kNoStep;
  digest_ = kDigestSeed;
  run_length_ = 0;
  last_ = kNoTaskIndex;
  leeway_ = {};
  unasked_ = 0;
  foreseen_before_ = 0;
  next_wait_order_ = 0;
  unlikely_left_[static_cast<std::size_t>(trace::ChoiceKind::kSpurious)] = config_.spurious_wakeups;
  unlikely_left_[static_cast<std::size_t>(trace::ChoiceKind::kOutOfMemory)] =
      config_.allocation_failures;
  timed_waits_ = 0;
  outside_waits_ = 0;
  live_attached_ = 0;
  attached_ended_at_ = 0;
  invariant_count_ = 0;
  intercept_state = nullptr;
  channel_.forget_schedule();
  for (std::size_t i = 0; i < observer_count_; ++i) observers_[i]->execution_began();
}

Task& Execution::add_task(TaskId id, TaskIndex parent, std::uint32_t ordinal,
                          TaskKind kind) noexcept {
  const auto index = static_cast<TaskIndex>(task_count_++);
  Task& task = *::new (tasks_.data() + index) Task;  // in place: a copy would cost as much again
  task.execution = this;
  task.id = id;
  task.index = index;
  task.parent = parent;
  task.ordinal = ordinal;
  task.kind = kind;
  if (kind == TaskKind::kThread) {
    task.slot = next_slot_++;
    ++live_attached_;
  }
  channel_.tasks[index] = {id, parent, ordinal};
  channel_.task_count = static_cast<std::uint32_t>(task_count_);
  strategy_->task_created(index, id, kind);
  for (std::size_t i = 0; i < observer_count_; ++i) observers_[i]->task_created(task);
  return task;
}

bool Execution::start(Task& task) noexcept {
  if (!executor_.start(task, task.slot)) return false;
  task.thread = executor_.thread_of(task.slot);
  enabled_.assign(task.index, true);
  return true;
}

void Execution::run(Strategy& strategy, void (*main)(Task&), void* record) noexcept {
  begin(strategy);
  Task& root = add_task(kRootTask, kNoTaskIndex, 0, TaskKind::kThread);
  root.main = main;
  root.record = record;
  root.pending = {.kind = trace::OpKind::kTaskBegin};
  Task& timer = add_task(kRootTask.child(trace::kTimerOrdinal), kRootIndex, trace::kTimerOrdinal,
                         TaskKind::kStep);
  timer.pending = {.kind = trace::OpKind::kTimerFire};
  const bool started = start(root);
  WEFT_CHECK(started, "no thread for the root task: the system's limit on threads is reached");
  first_step(root);
  executor_.run(root);
  check_leftovers();

  channel_.schedule_digest = digest_;
  strategy.execution_ended(steps_);
  heed_complaint();
  for (std::size_t i = 0; i < observer_count_; ++i) observers_[i]->execution_ended();
  executor_.recycle();
}

Task* Execution::spawn(Task& parent, void (*main)(Task&), void* record) noexcept {
  if (task_count_ == trace::kMaxTasks) {
    fail(trace::FindingKind::kUnsupported,
         "more than 1022 threads in one execution: split the test, or use fewer threads");
  }
  const std::uint32_t ordinal = parent.children++;
  Task& task = add_task(parent.id.child(ordinal), parent.index, ordinal, TaskKind::kThread);
  task.main = main;
  task.record = record;
  task.pending = {.kind = trace::OpKind::kTaskBegin,
                  .address = 0,
                  .pc = parent.pending.pc,
                  .argument = task.index};
  task.operation_index = 1;
  ordering_.spawned(task.index, parent.index, parent.operation_index);
  if (!start(task)) {
    task.state = TaskState::kEnded;
    --live_attached_;
    return nullptr;
  }
  return &task;
}

void Execution::detach(Task& task) noexcept {
  if (task.detached) return;
  task.detached = true;
  if (task.state != TaskState::kEnded) --live_attached_;
  foreseen_before_ = 0;
}

void Execution::end(Task& task) noexcept {
  task.state = TaskState::kEnded;
  enabled_.assign(task.index, false);
  if (!task.detached) --live_attached_;
  if (live_attached_ == 0 && attached_ended_at_ == 0) attached_ended_at_ = steps_;
  for (std::size_t i = 0; i < task_count_; ++i) {
    Task& other = tasks_.data()[i];
    if (other.pending.kind == trace::OpKind::kJoin && other.pending.argument == task.index)
      set_enabled(other);
  }
  if (Task* next = decide(task)) {
    executor_.leave(task, *next);
  } else {
    executor_.finish(task);
  }
}

ObjectId Execution::object_of(std::uintptr_t address) const noexcept {
  if (address == 0) return {};
  HeapBlock block;
  if (image_.find_block(address, block)) {
    return {block.allocated.task.value, address - block.begin,
            static_cast<std::uint32_t>(block.ordinal), ObjectSpace::kHeap};
  }
  for (std::size_t i = 0; i < task_count_; ++i) {
    const Task& task = tasks_[i];
    if (task.kind != TaskKind::kThread) continue;
    const Executor::StackArea area = executor_.stack_area(task.slot);
    if (address >= area.low && address < area.high) {
      return {task.id.value, area.high - address, 0, ObjectSpace::kStack};
    }
    if (!asan::kEnabled) continue;
    const asan::FakeStackArea fake = asan::fake_stack_area(task.slot);
    if (address >= fake.low && address < fake.high) {
      return {task.id.value, fake.high - address, 0, ObjectSpace::kStack};
    }
  }
  ObjectId object{.space = ObjectSpace::kModule};
  if (image_.find_module(address, object.owner, object.offset)) return object;
  return {0, address, 0, ObjectSpace::kForeign};
}

ObjectId Execution::object_of(const trace::Operation& operation) const noexcept {
  const bool about_a_task = operation.kind == trace::OpKind::kJoin ||
                            operation.kind == trace::OpKind::kDetach ||
                            operation.kind == trace::OpKind::kTaskBegin;
  if (!about_a_task) {
    const ObjectId object = object_of(operation.address);
    // libc opens FILEs in a heap of its own, where they lie elsewhere in each execution.
    const bool moves =
        trace::is_about_file(operation.kind) && object.space == ObjectSpace::kForeign;
    return moves ? ObjectId{} : object;
  }
  if (operation.argument >= task_count_) return {};
  return {tasks_[operation.argument].id.value, 0, 0, ObjectSpace::kTask};
}

}  // namespace weft::engine
