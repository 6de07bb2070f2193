// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/engine/recorder.h"

#include "harness/engine/unwind.h"

namespace weft::engine {

void Recorder::execution_began() noexcept {
  hash_ = 0;
  stacks_.clear();
  latest_event_.clear();
  trace::Channel& channel = execution_.channel();
  channel.events.clear();
  channel.stack_count = 0;
}

void Recorder::announced(Task& task) noexcept {
  task.stack = trace::kNoStack;
  // A task's end is announced by no code of the subject.
  if (!keep_events_ || task.pending.pc == 0) return;
  std::uintptr_t frames[trace::kMaxFrames + 16];  // room for our own frames, which are cut off
  const std::size_t count = capture_stack(frames, std::size(frames), task.pending.pc);
  task.stack = intern_stack(frames, count);
}

std::uint32_t Recorder::intern_stack(const std::uintptr_t* frames, std::size_t count) noexcept {
  if (count > trace::kMaxFrames) count = trace::kMaxFrames;
  std::uint64_t hash = count;
  for (std::size_t i = 0; i < count; ++i) hash = fold(hash, frames[i]);
  if (const std::uint32_t* known = stacks_.find(hash)) return *known;
  trace::Channel& channel = execution_.channel();
  if (channel.stack_count == trace::kMaxStacks) return trace::kNoStack;
  trace::Stack& stack = channel.stacks[channel.stack_count];
  stack.count = static_cast<std::uint32_t>(count);
  // Return addresses point past their calls; the byte before is inside.
  for (std::size_t i = 0; i < count; ++i)
    stack.frames[i] = execution_.image().site_of(frames[i] - 1);
  stacks_.insert(hash, channel.stack_count);
  return channel.stack_count++;
}

void Recorder::step(const StepView& view) noexcept {
  const Task& task = *view.task;
  const trace::Operation& op = task.pending;
  const ObjectId object = execution_.object_of(op);
  const Site site = op.pc == 0 ? Site{} : execution_.image().site_of(op.pc - 1);
  // A timer that fires is what time jumps by.
  std::uint64_t time = execution_.time().now();
  if (op.kind == trace::OpKind::kTimerFire) time = std::max(time, execution_.earliest_deadline());
  // Values stay out of the hash: a pointer's value is an address.
  hash_ = fold(hash_, task.id.value);
  hash_ = fold(hash_, (static_cast<std::uint64_t>(op.kind) << 56) ^ task.operation_index);
  hash_ = fold(hash_, object.hash());
  hash_ = fold(hash_, (std::uint64_t{site.module} << 32) | site.offset);
  hash_ = fold(hash_, time ^ view.enabled);
  if (!keep_events_) return;

  trace::EventLog& events = execution_.channel().events;
  const bool kept = events.add({
      .step = view.step,
      .task = task.index,
      .kind = op.kind,
      .width = op.width,
      .order = op.order,
      .preempted = view.preempted,
      .enabled_count = static_cast<std::uint16_t>(view.enabled_count),
      .operation_index = task.operation_index,
      .object = object,
      .value = 0,
      .argument = op.argument,
      .time = time,
      .enabled = view.enabled,
      .digest = view.digest,
      .site = site,
      .stack = task.kind == TaskKind::kThread ? task.stack : trace::kNoStack,
  });
  if (kept) {
    latest_event_.insert(task.index, events.count());
  } else {
    latest_event_.erase(task.index);
  }
}

void Recorder::yielded(const Task& task, std::uint64_t value) noexcept {
  if (const std::uint64_t* event = latest_event_.find(task.index)) {
    execution_.channel().events.set_value(*event - 1, value);
  }
}

void Recorder::execution_ended() noexcept { execution_.channel().trace_hash = hash_; }

}  // namespace weft::engine
