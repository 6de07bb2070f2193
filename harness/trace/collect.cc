// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/trace/collect.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <span>
#include <utility>

namespace weft::trace {
namespace {

std::span<const TaskRow> task_rows(const Channel& channel) {
  return {channel.tasks, std::min<std::size_t>(channel.task_count, kMaxTasks)};
}

// Only tasks that the trace lists, so that invariant 2 of trace.h holds.
TaskIndex listed(TaskIndex index, const Trace& trace) {
  return index < trace.tasks.size() ? index : kNoTaskIndex;
}

template <std::size_t N>
void end_with_nul(char (&text)[N]) {
  text[N - 1] = '\0';
}

ObjectId sound(const ObjectId& object) {
  return object.space <= ObjectSpace::kForeign ? object : ObjectId{};
}

// A bool that holds neither 0 nor 1 must not be read as one.
bool sound(const bool& flag) {
  unsigned char byte;
  std::memcpy(&byte, &flag, sizeof byte);
  return byte != 0;
}

Finding sound(Finding finding, const Trace& trace) {
  if (finding.kind >= FindingKind::kCount) finding.kind = FindingKind::kWorkerDied;
  finding.task = listed(finding.task, trace);
  finding.signal = std::max(finding.signal, 0);
  finding.line = std::max(finding.line, 0);
  end_with_nul(finding.message);
  end_with_nul(finding.file);
  end_with_nul(finding.detail);
  finding.task_count = std::min<std::uint32_t>(finding.task_count, kMaxFindingTasks);
  finding.missed_wake.by = listed(finding.missed_wake.by, trace);
  finding.missed_wake.waiter = listed(finding.missed_wake.waiter, trace);
  finding.starved.waiter = listed(finding.starved.waiter, trace);
  for (WeakSide* side : {&finding.weak_pair.write, &finding.weak_pair.read}) {
    side->task = listed(side->task, trace);
    if (side->operation >= OpKind::kCount) side->operation = OpKind::kNone;
    side->suffices = sound(side->suffices);
    side->stack.count = std::min<std::uint32_t>(side->stack.count, kMaxFrames);
  }
  finding.weak_pair.object = sound(finding.weak_pair.object);
  finding.object = sound(finding.object);
  finding.access_count = std::min<std::uint32_t>(finding.access_count, kMaxFindingAccesses);
  for (FindingAccess& access : std::span(finding.accesses, finding.access_count)) {
    access.task = listed(access.task, trace);
    if (access.kind > AccessKind::kAllocate) access.kind = AccessKind::kRead;
    for (HeldLock& lock : access.held) lock.object = sound(lock.object);
    access.held_count = std::min<std::uint32_t>(access.held_count, kMaxHeldLocks);
    access.stack.count = std::min<std::uint32_t>(access.stack.count, kMaxFrames);
  }
  for (FindingTask& task : std::span(finding.tasks, finding.task_count)) {
    task.index = listed(task.index, trace);
    task.waits_for = listed(task.waits_for, trace);
    if (task.state > TaskState::kEnded) task.state = TaskState::kRunnable;
    if (task.operation >= OpKind::kCount) task.operation = OpKind::kNone;
    task.in_cycle = sound(task.in_cycle);
    task.object = sound(task.object);
    task.held_count = std::min<std::uint32_t>(task.held_count, kMaxHeldLocks);
    for (HeldLock& lock : std::span(task.held, task.held_count)) lock.object = sound(lock.object);
    task.stack.count = std::min<std::uint32_t>(task.stack.count, kMaxFrames);
  }
  return finding;
}

std::vector<TaskRow> sound(std::span<const TaskRow> rows) {
  std::vector<TaskRow> result(rows.begin(), rows.end());
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (result[i].parent >= i) result[i].parent = kNoTaskIndex;
  }
  return result;
}

std::vector<Module> modules_of(const Channel& channel) {
  std::vector<Module> modules;
  for (const ModuleRow& row :
       std::span(channel.modules, std::min<std::size_t>(channel.module_count, kMaxModules))) {
    const std::size_t length = ::strnlen(row.path, sizeof row.path);
    modules.push_back({.path = std::string(row.path, length), .id = row.id, .base = row.base});
  }
  return modules;
}

std::vector<std::pair<std::string, std::string>> host_facts() {
  struct utsname system;
  if (::uname(&system) != 0) return {};
  return {{"kernel", fmt::format("{} {}", system.sysname, system.release)},
          {"machine", system.machine},
          {"processors", std::to_string(::sysconf(_SC_NPROCESSORS_ONLN))}};
}

// Every site and every module variable of the trace, looked up once.
class NameResolver {
 public:
  NameResolver(Trace& trace, Symbolizer& symbolizer) : trace_(trace), symbolizer_(symbolizer) {}

  void resolve_all() {
    for (const FindingTask& task : std::span(trace_.finding.tasks, trace_.finding.task_count)) {
      name(task.object);
      resolve({task.held, task.held_count});
      symbolize(task.stack);
    }
    name(trace_.finding.object);
    name(trace_.finding.weak_pair.object);
    symbolize(trace_.finding.weak_pair.write.stack);
    symbolize(trace_.finding.weak_pair.read.stack);
    for (const auto& access : std::span(trace_.finding.accesses, trace_.finding.access_count)) {
      resolve({access.held, access.held_count});
      symbolize(access.stack);
    }
    for (const Stack& stack : trace_.stacks) symbolize(stack);
  }

  // The same few places and variables come again and again.
  void resolve(const Event& event) {
    if (event.object != latest_object_) name(event.object);
    if (event.site != latest_site_) symbolize(event.site);
    latest_object_ = event.object;
    latest_site_ = event.site;
  }

 private:
  void resolve(std::span<const HeldLock> locks) {
    for (const HeldLock& lock : locks) {
      name(lock.object);
      symbolize(lock.acquired_at);
    }
  }
  void symbolize(const Stack& stack) {
    for (const Site site : std::span(stack.frames, stack.count)) symbolize(site);
  }
  void symbolize(Site site) {
    if (site.module >= trace_.modules.size()) return;
    const auto [entry, fresh] = trace_.symbols.try_emplace(site);
    if (fresh) entry->second = symbolizer_.code(trace_.modules[site.module].path, site.offset);
  }
  void name(const ObjectId& object) {
    if (object.space != ObjectSpace::kModule || !looked_up_.insert(object).second) return;
    for (const Module& module : trace_.modules) {
      if (module.id != object.owner) continue;
      std::string name = symbolizer_.data(module.path, object.offset);
      if (!name.empty()) trace_.names.emplace(object, std::move(name));
      break;
    }
  }

  Trace& trace_;
  Symbolizer& symbolizer_;
  std::set<ObjectId> looked_up_;  // of module variables
  ObjectId latest_object_;
  Site latest_site_;
};

// Looks all of them up, and keeps the last ones.
void take_events(const Channel& channel, Trace& trace, NameResolver& names) {
  CollectedEvents all(channel, trace);
  std::vector<Event>& kept = trace.events;
  Event event;
  std::uint64_t count = 0;
  for (; all.next(event); ++count) {
    names.resolve(event);
    if (kept.size() < kMaxEventsInMemory) {
      kept.push_back(event);
    } else {
      kept[count % kMaxEventsInMemory] = event;
    }
  }
  trace.events_before = count - kept.size();
  std::rotate(kept.begin(),
              kept.begin() + static_cast<std::ptrdiff_t>(trace.events_before % kMaxEventsInMemory),
              kept.end());
}

}  // namespace

Outcome<Token> collect_token(const Channel& channel, const RunFacts& facts) {
  const FindingKind kind = channel.finding.kind;
  return with_deviations({.scenario = facts.scenario,
                          .fingerprint = facts.fingerprint,
                          .memory_points = facts.memory_points,
                          .races = facts.races,
                          .leaks = facts.leaks,
                          .step_cap = facts.step_cap,
                          .finding = kind < FindingKind::kCount ? kind : FindingKind::kWorkerDied,
                          .steps = channel.steps,
                          .final_digest = channel.schedule_digest},
                         task_rows(channel), channel.choices.bytes(task_rows(channel)));
}

CollectedChoices collect_choices(const Channel& channel) {
  CollectedChoices choices;
  const std::span<const TaskRow> rows = task_rows(channel);
  choices.tasks.assign(rows.begin(), rows.end());
  const std::string log = channel.choices.bytes(rows);
  ChoiceReader in(log, rows);
  for (Deviation deviation; in.next(deviation);) choices.deviations.push_back(deviation);
  return choices;
}

bool CollectedEvents::next(Event& event) {
  if (!in_.next(event) || event.kind >= OpKind::kCount) return false;
  event.preempted = sound(event.preempted);
  event.object = sound(event.object);
  event.task = listed(event.task, trace_);
  if (event.stack >= trace_.stacks.size()) event.stack = kNoStack;
  return true;
}

Trace collect_trace(const Channel& channel, const RunFacts& facts, std::string token,
                    Symbolizer& symbolizer) {
  Trace trace;
  trace.meta = {.scenario = facts.scenario,
                .token = std::move(token),
                .strategy = facts.strategy,
                .seed = facts.seed,
                .execution = facts.execution,
                .fingerprint = facts.fingerprint,
                .final_digest = channel.schedule_digest,
                .trace_hash = channel.trace_hash,
                .memory_points = facts.memory_points};
  trace.host = host_facts();
  trace.modules = modules_of(channel);
  trace.tasks = sound(task_rows(channel));
  trace.finding = sound(channel.finding, trace);
  trace.stacks.assign(channel.stacks,
                      channel.stacks + std::min<std::size_t>(channel.stack_count, kMaxStacks));
  for (Stack& stack : trace.stacks) stack.count = std::min<std::uint32_t>(stack.count, kMaxFrames);
  trace.events_dropped = channel.events.dropped();
  trace.output = facts.output;
  NameResolver names(trace, symbolizer);
  names.resolve_all();
  take_events(channel, trace, names);
  return trace;
}

}  // namespace weft::trace
