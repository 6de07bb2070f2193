// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/cli/debug_session.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "harness/cli/gdb.h"
#include "harness/cli/session.h"
#include "harness/strategies/replay.h"

namespace weft::cli {
namespace {

using engine::ExecutorKind;
using trace::Debugger;

/// What `continue` will do, told where it can be typed.
std::string hint_for(const DebugPlan& plan, ExecutorKind executor) {
  if (!plan.before_step) {
    return "weft: this is the finding; every task is a thread of that name, and `continue` ends "
           "the replay";
  }
  if (executor == ExecutorKind::kAlias) {
    return fmt::format(
        "weft: step {} has not happened yet; every task is a thread of that name. Only this one "
        "can "
        "go on, up to the next switch: where all should, take --executor baton",
        *plan.before_step);
  }
  return fmt::format(
      "weft: step {} has not happened yet; every task is a thread of that name, and `continue` "
      "goes on to the finding",
      *plan.before_step);
}

Debugger debugger_of(const engine::SupervisedWorker& worker) {
  return worker.channel().debugger.load(std::memory_order_acquire);
}

/// The worker ended by itself before it came to the place.
DebugResult without_stop(const engine::WorkerOutcome& outcome) {
  DebugResult result;
  switch (outcome.kind) {
    case engine::WorkerOutcome::Kind::kFinished:
      result.error =
          "the replay for gdb finished without coming there: the program does not do the same each "
          "time";
      result.strayed = true;
      break;
    case engine::WorkerOutcome::Kind::kInternal: result.error = outcome.error; break;
    case engine::WorkerOutcome::Kind::kFinding:
      result.end = fmt::format("nothing is left for gdb to look at: {}", outcome.finding.message);
      break;
  }
  return result;
}

/// gdb has ended.
std::string end_of(engine::SupervisedWorker& worker) {
  if (!worker.poll(0)) {
    worker.kill();
    return "left in gdb";
  }
  const trace::Channel& channel = worker.channel();
  if (channel.finding_ready.load()) {
    const trace::Finding& finding = channel.finding;
    return fmt::format("went on to its finding: {}", trace::name(finding.kind));
  }
  if (channel.phase.load() == trace::WorkerPhase::kDone) return "went on to its end, no finding";
  return "left in gdb";
}

}  // namespace

DebugResult debug(const trace::Token& token, const Options& options, const DebugPlan& plan,
                  const std::function<void()>& body) {
  strategies::Replay strategy(
      token.deviations, token.tasks,
      options.lenient ? strategies::ReplayMode::kLenient : strategies::ReplayMode::kStrict);
  engine::ExplorerConfig config = explorer_config(options);
  config.worker.strategy = &strategy;
  config.worker.count = 1;
  if (plan.before_step) config.worker.stop_before = *plan.before_step;
  config.worker.stop_in_warm_up = plan.in_warm_up;
  if (token.finding == trace::FindingKind::kHang)
    config.hang_seconds = engine::hang_seconds_again(config);

  DebugResult result;
  engine::SupervisedWorker worker;
  if (!worker.prepare() || !worker.run_to_stop(config.worker_main, config.worker,
                                               engine::body_of(body), config.hang_seconds)) {
    result.error = std::string("cannot start a worker process: ") + std::strerror(errno);
    return result;
  }
  if (!worker.running()) {
    return without_stop(worker.outcome());
  }
  result.error =
      run_gdb(plan.gdb, worker.pid(), hint_for(plan, config.worker.executor), plan.arguments);
  if (result.error.empty() && debugger_of(worker) == Debugger::kWanted) {
    result.error =
        "gdb did not take hold of the worker process: where the system forbids that (seccomp in "
        "a container, kernel.yama.ptrace_scope), it says why above";
  }
  result.end = end_of(worker);
  return result;
}

}  // namespace weft::cli
