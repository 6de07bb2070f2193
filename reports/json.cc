// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "reports/json.h"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "harness/trace/describe.h"
#include "reports/frames.h"
#include "reports/wording.h"

namespace weft::reports {
namespace {

using Json = nlohmann::ordered_json;
using trace::task_path;
using trace::Trace;

// Words of the subject are strings: most JSON readers keep only 53 bits of a number.
std::string hex(std::uint64_t value) { return fmt::format("0x{:x}", value); }

const char* state_name(trace::TaskState state) {
  switch (state) {
    case trace::TaskState::kRunnable: return "runnable";
    case trace::TaskState::kBlocked: return "blocked";
    case trace::TaskState::kEnded: return "ended";
  }
  return "ended";  // the reader lets nothing else through
}

const char* origin_name(Origin origin) {
  switch (origin) {
    case Origin::kUser: return "user";
    case Origin::kLibrary: return "library";
    case Origin::kHarness: return "harness";
  }
  return "user";
}

Json path_or_null(const Trace& trace, TaskIndex index) {
  return index == kNoTaskIndex ? Json(nullptr) : Json(task_path(trace.tasks, index));
}

Json to_json(const SourceFrame& frame) {
  return {{"function", frame.function},
          {"file", frame.file},
          {"line", frame.line},
          {"origin", origin_name(frame.origin)}};
}
Json to_json(const std::optional<SourceFrame>& frame) {
  return frame ? to_json(*frame) : Json(nullptr);
}
Json to_json(const std::vector<SourceFrame>& frames) {
  Json result = Json::array();
  for (const SourceFrame& frame : frames) result.push_back(to_json(frame));
  return result;
}

Json finding_json(const Trace& trace) {
  const trace::Finding& finding = trace.finding;
  return {{"kind", trace::name(finding.kind)},
          {"title", title(finding.kind)},
          {"message", finding.message},
          {"detail", finding.detail},
          {"file", finding.file},
          {"line", finding.line},
          {"task", path_or_null(trace, finding.task)},
          {"signal", finding.signal},
          {"fault_address", hex(finding.fault_address)},
          {"steps", finding.steps},
          {"preemptions", finding.preemptions}};
}

Json held_json(const Trace& trace, std::span<const trace::HeldLock> locks) {
  Json held = Json::array();
  for (const trace::HeldLock& lock : locks) {
    held.push_back({{"object", describe_object(trace, lock.object)},
                    {"acquired_at", to_json(user_frame(frames_at(trace, lock.acquired_at)))}});
  }
  return held;
}

Json access_json(const Trace& trace, const trace::FindingAccess& access) {
  return {{"task", path_or_null(trace, access.task)},
          {"access", trace::name(access.kind)},
          {"bytes", access.size},
          {"operation_index", access.operation_index},
          {"held", held_json(trace, {access.held, access.held_count})},
          {"stack", to_json(frames_of(trace, access.stack))}};
}

Json task_json(const Trace& trace, const trace::FindingTask& task) {
  return {{"task", path_or_null(trace, task.index)},
          {"state", state_name(task.state)},
          {"in_cycle", task.in_cycle},
          {"operation", trace::name(task.operation)},
          {"object", describe_object(trace, task.object)},
          {"operation_index", task.operation_index},
          {"waits_for", path_or_null(trace, task.waits_for)},
          {"held", held_json(trace, {task.held, task.held_count})},
          {"stack", to_json(frames_of(trace, task.stack))}};
}

Json starved_json(const Trace& trace) {
  const trace::Starved& starved = trace.finding.starved;
  if (starved.waiter == kNoTaskIndex) return nullptr;
  return {{"task", path_or_null(trace, starved.waiter)},
          {"since_step", starved.since},
          {"passed_over", starved.passed_over},
          {"allowed", starved.most}};
}

Json weak_side_json(const Trace& trace, const trace::WeakSide& side) {
  return {{"task", path_or_null(trace, side.task)},
          {"operation", trace::name(side.operation)},
          {"order", side.order},
          {"suffices", side.suffices},
          {"stack", to_json(frames_of(trace, side.stack))}};
}

Json weak_pair_json(const Trace& trace) {
  const trace::WeakPair& pair = trace.finding.weak_pair;
  if (pair.write.task == kNoTaskIndex) return nullptr;
  return {{"object", describe_object(trace, pair.object)},
          {"write", weak_side_json(trace, pair.write)},
          {"read", weak_side_json(trace, pair.read)}};
}

Json step_json(const Trace& trace, const trace::Event& event) {
  return {{"step", event.step},
          {"task", path_or_null(trace, event.task)},
          {"operation_index", event.operation_index},
          {"operation", trace::name(event.kind)},
          {"object", describe_object(trace, event.object)},
          {"value", hex(event.value)},
          {"argument", hex(event.argument)},
          {"width", event.width},
          {"preempted", event.preempted},
          {"enabled", event.enabled_count},
          {"time_ns", event.time},
          {"text", describe_step(trace, event)},
          {"at", to_json(user_frame(trace, event))}};
}

}  // namespace

std::string render_json(const Trace& trace) {
  Json tasks = Json::array();
  for (const trace::FindingTask& task : std::span(trace.finding.tasks, trace.finding.task_count)) {
    tasks.push_back(task_json(trace, task));
  }
  Json accesses = Json::array();
  for (const auto& access : std::span(trace.finding.accesses, trace.finding.access_count)) {
    accesses.push_back(access_json(trace, access));
  }
  Json schedule = Json::array();
  for (const trace::Event& event : trace.events) schedule.push_back(step_json(trace, event));
  Json host = Json::object();
  for (const auto& [key, value] : trace.host) host[key] = value;
  const Json report = {{"format", "weft-report"},
                       {"version", kJsonReportVersion},
                       {"scenario", trace.meta.scenario},
                       {"finding", finding_json(trace)},
                       {"token", trace.meta.token},
                       {"strategy", trace.meta.strategy},
                       {"seed", trace.meta.seed},
                       {"execution", trace.meta.execution},
                       {"build", hex(trace.meta.fingerprint)},
                       {"memory_points", trace.meta.memory_points},
                       {"host", std::move(host)},
                       {"missed_wake_step", trace.finding.missed_wake.step},
                       {"starved", starved_json(trace)},
                       {"weak_pair", weak_pair_json(trace)},
                       {"object", describe_object(trace, trace.finding.object)},
                       {"accesses", std::move(accesses)},
                       {"tasks", std::move(tasks)},
                       {"schedule", std::move(schedule)},
                       {"steps_before", trace.events_before},
                       {"steps_not_kept", trace.events_dropped},
                       {"output", trace.output}};
  return report.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace weft::reports
