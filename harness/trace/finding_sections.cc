// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/trace/finding_sections.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "harness/trace/section_fields.h"

namespace weft::trace {
namespace {

void write_held(ByteWriter& out, const HeldLock (&locks)[kMaxHeldLocks], std::uint32_t count) {
  count = std::min<std::uint32_t>(count, kMaxHeldLocks);
  out.varint(count);
  for (const HeldLock& lock : std::span(locks, count)) {
    write_object(out, lock.object);
    write_site(out, lock.acquired_at);
  }
}
std::uint32_t read_held(ByteReader& in, HeldLock (&locks)[kMaxHeldLocks]) {
  const auto count = static_cast<std::uint32_t>(in.varint_up_to(kMaxHeldLocks));
  for (HeldLock& lock : std::span(locks, count)) {
    lock.object = read_object(in);
    lock.acquired_at = read_site(in);
  }
  return count;
}

void write_finding_task(ByteWriter& out, const FindingTask& task) {
  write_index(out, task.index, kNoTaskIndex);
  out.varint(static_cast<std::uint64_t>(task.state) << 1 | (task.in_cycle ? 1 : 0));
  out.varint(static_cast<std::uint64_t>(task.operation));
  write_object(out, task.object);
  out.varint(task.operation_index);
  write_index(out, task.waits_for, kNoTaskIndex);
  write_held(out, task.held, task.held_count);
  write_stack(out, task.stack);
}
FindingTask read_finding_task(ByteReader& in) {
  FindingTask task;
  task.index = read_index(in, kNoTaskIndex);
  const std::uint64_t state =
      in.varint_up_to(static_cast<std::uint64_t>(TaskState::kEnded) << 1 | 1);
  task.state = static_cast<TaskState>(state >> 1);
  task.in_cycle = (state & 1) != 0;
  task.operation = read_enum(in, OpKind::kCount);
  task.object = read_object(in);
  task.operation_index = in.varint();
  task.waits_for = read_index(in, kNoTaskIndex);
  task.held_count = read_held(in, task.held);
  task.stack = read_stack(in);
  return task;
}

void write_weak_side(ByteWriter& out, const WeakSide& side) {
  write_index(out, side.task, kNoTaskIndex);
  out.varint(static_cast<std::uint64_t>(side.operation));
  out.fixed8(side.order);
  out.fixed8(side.suffices ? 1 : 0);
  write_stack(out, side.stack);
}
WeakSide read_weak_side(ByteReader& in) {
  WeakSide side;
  side.task = read_index(in, kNoTaskIndex);
  side.operation = read_enum(in, OpKind::kCount);
  side.order = in.fixed8();
  side.suffices = in.fixed8() != 0;
  side.stack = read_stack(in);
  return side;
}

}  // namespace

void write_finding(ByteWriter& out, const Trace& trace) {
  const Finding& finding = trace.finding;
  out.varint(static_cast<std::uint64_t>(finding.kind));
  write_index(out, finding.task, kNoTaskIndex);
  out.varint(static_cast<std::uint32_t>(finding.signal));
  out.varint(finding.steps);
  out.varint(finding.preemptions);
  out.varint(finding.fault_address);
  out.string(bounded(finding.message));
  out.string(bounded(finding.file));
  out.varint(static_cast<std::uint32_t>(finding.line));
  out.string(bounded(finding.detail));
  const std::uint32_t count = std::min<std::uint32_t>(finding.task_count, kMaxFindingTasks);
  out.varint(count);
  for (std::uint32_t i = 0; i < count; ++i) write_finding_task(out, finding.tasks[i]);
}
void read_finding(ByteReader& in, Trace& trace) {
  Finding& finding = trace.finding;
  finding.kind = read_enum(in, FindingKind::kCount);
  finding.task = read_index(in, kNoTaskIndex);
  finding.signal = static_cast<int>(in.varint_up_to(INT32_MAX));
  finding.steps = in.varint();
  finding.preemptions = in.varint();
  finding.fault_address = in.varint();
  read_bounded(in, finding.message);
  read_bounded(in, finding.file);
  finding.line = static_cast<int>(in.varint_up_to(INT32_MAX));
  read_bounded(in, finding.detail);
  finding.task_count = static_cast<std::uint32_t>(in.varint_up_to(kMaxFindingTasks));
  for (std::uint32_t i = 0; i < finding.task_count; ++i) finding.tasks[i] = read_finding_task(in);
}

void write_accesses(ByteWriter& out, const Trace& trace) {
  const Finding& finding = trace.finding;
  write_object(out, finding.object);
  const std::uint32_t count = std::min<std::uint32_t>(finding.access_count, kMaxFindingAccesses);
  out.varint(count);
  for (const FindingAccess& access : std::span(finding.accesses, count)) {
    write_index(out, access.task, kNoTaskIndex);
    out.varint(static_cast<std::uint64_t>(access.kind));
    out.varint(access.size);
    out.varint(access.operation_index);
    write_held(out, access.held, access.held_count);
    write_stack(out, access.stack);
  }
}
void read_accesses(ByteReader& in, Trace& trace) {
  Finding& finding = trace.finding;
  finding.object = read_object(in);
  finding.access_count = static_cast<std::uint32_t>(in.varint_up_to(kMaxFindingAccesses));
  for (FindingAccess& access : std::span(finding.accesses, finding.access_count)) {
    access.task = read_index(in, kNoTaskIndex);
    access.kind =
        static_cast<AccessKind>(in.varint_up_to(static_cast<std::uint64_t>(AccessKind::kAllocate)));
    access.size = in.varint();
    access.operation_index = in.varint();
    access.held_count = read_held(in, access.held);
    access.stack = read_stack(in);
  }
}

void write_missed_wake(ByteWriter& out, const Trace& trace) {
  const MissedWake& missed = trace.finding.missed_wake;
  out.varint(missed.step);
  write_index(out, missed.by, kNoTaskIndex);
  write_index(out, missed.waiter, kNoTaskIndex);
}
void read_missed_wake(ByteReader& in, Trace& trace) {
  MissedWake& missed = trace.finding.missed_wake;
  missed.step = in.varint();
  missed.by = read_index(in, kNoTaskIndex);
  missed.waiter = read_index(in, kNoTaskIndex);
}

void write_starved(ByteWriter& out, const Trace& trace) {
  const Starved& starved = trace.finding.starved;
  write_index(out, starved.waiter, kNoTaskIndex);
  out.varint(starved.since);
  out.varint(starved.passed_over);
  out.varint(starved.most);
}
void read_starved(ByteReader& in, Trace& trace) {
  Starved& starved = trace.finding.starved;
  starved.waiter = read_index(in, kNoTaskIndex);
  starved.since = in.varint();
  starved.passed_over = in.varint();
  starved.most = in.varint();
}

void write_weak_pair(ByteWriter& out, const Trace& trace) {
  const WeakPair& pair = trace.finding.weak_pair;
  write_object(out, pair.object);
  write_weak_side(out, pair.write);
  write_weak_side(out, pair.read);
}
void read_weak_pair(ByteReader& in, Trace& trace) {
  WeakPair& pair = trace.finding.weak_pair;
  pair.object = read_object(in);
  pair.write = read_weak_side(in);
  pair.read = read_weak_side(in);
}

bool names_tasks_of(const Trace& trace) {
  const auto is_of_the_trace = [&](TaskIndex index) {
    return index == kNoTaskIndex || index < trace.tasks.size();
  };
  const Finding& finding = trace.finding;
  const std::span tasks(finding.tasks, finding.task_count);
  const std::span accesses(finding.accesses, finding.access_count);
  const TaskIndex named[] = {
      finding.task,           finding.missed_wake.by,       finding.missed_wake.waiter,
      finding.starved.waiter, finding.weak_pair.write.task, finding.weak_pair.read.task};
  return std::all_of(std::begin(named), std::end(named), is_of_the_trace) &&
         std::all_of(accesses.begin(), accesses.end(),
                     [&](const FindingAccess& access) { return is_of_the_trace(access.task); }) &&
         std::all_of(tasks.begin(), tasks.end(), [&](const FindingTask& task) {
           return is_of_the_trace(task.index) && is_of_the_trace(task.waits_for);
         });
}

}  // namespace weft::trace
