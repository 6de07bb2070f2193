// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/cli/replay_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "harness/cli/fingerprint.h"
#include "harness/cli/terminal.h"
#include "harness/strategies/replay.h"
#include "harness/trace/describe.h"
#include "harness/trace/trace_file.h"
#include "reports/symbols.h"
#include "reports/text.h"

namespace weft::cli {
namespace {

using engine::WorkerOutcome;
using trace::FindingKind;

/// True where time or the kernel, not the schedule, decides how far the execution comes.
bool ends_in_real_time(FindingKind kind) {
  return kind == FindingKind::kHang || kind == FindingKind::kWorkerDied;
}

class Replayer {
 public:
  Replayer(const trace::Token& token, const Options& options, const Setup& setup,
           const std::function<void()>& body, const std::string& trace_file)
      : token_(token),
        token_text_(trace::format_token(token)),
        options_(options),
        setup_(setup),
        body_(body),
        trace_file_(trace_file) {}

  ReplayResult run(std::uint64_t times) {
    result_.times = times;
    for (std::uint64_t i = 0; i < times && sound(); ++i) run_once(i == 0);
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool sound() const {
    return result_.error.empty() && result_.internal_error.empty();
  }

  void run_once(bool first) {
    strategies::Replay strategy(
        token_.deviations, token_.tasks,
        options_.lenient ? strategies::ReplayMode::kLenient : strategies::ReplayMode::kStrict);
    engine::SupervisedWorker worker;
    engine::ExplorerConfig config = explorer_config(options_);
    if (result_.bug.kind == trace::name(FindingKind::kHang)) {
      config.hang_seconds = engine::hang_seconds_again(config);
    }
    if (!worker.prepare() ||
        !engine::run_single(config, engine::body_of(body_), strategy, 1, first, worker)) {
      result_.error = std::string("cannot start a worker process: ") + std::strerror(errno);
      return;
    }
    const WorkerOutcome& outcome = worker.outcome();
    if (first) note_first(worker);
    if (first && outcome.kind != WorkerOutcome::Kind::kInternal) write_trace(worker);
    switch (outcome.kind) {
      case WorkerOutcome::Kind::kFinished:
        ++result_.nothing;
        differs("it finished without a finding");
        return;
      case WorkerOutcome::Kind::kInternal: result_.internal_error = outcome.error; return;
      case WorkerOutcome::Kind::kFinding: judge(worker); return;
    }
  }

  void note_first(const engine::SupervisedWorker& worker) {
    const trace::Channel& channel = worker.channel();
    const strategies::ReplayStatus status =
        strategies::read_replay_status(channel.strategy_state, channel.strategy_state_size);
    result_.steps = channel.steps;
    result_.in_warm_up = worker.outcome().in_warm_up;
    result_.applied = status.applied;
    result_.skipped = status.skipped;
    if (options_.lenient) result_.followed = words_of(status);
    result_.output = worker.outcome().output;
  }

  [[nodiscard]] std::string words_of(const strategies::ReplayStatus& status) const {
    const std::uint64_t all = token_.deviations.size();
    std::string words = fmt::format("of the token's {}, {} followed and {} skipped",
                                    counted(all, "decision"), status.applied, status.skipped);
    if (status.skipped != 0) {
      words += fmt::format(" (the first: task {} at its operation {})",
                           trace::task_path(token_.tasks, status.expected.task),
                           status.expected.operation);
    }
    // A finding ends the execution before them.
    if (const std::uint64_t rest = all - status.applied - status.skipped; rest != 0) {
      words += fmt::format("; {} not reached", rest);
    }
    return words;
  }

  void judge(const engine::SupervisedWorker& worker) {
    const trace::Finding& finding = worker.outcome().finding;
    if (finding.kind == FindingKind::kUserError || finding.kind == FindingKind::kUnsupported) {
      result_.error = finding.message;
      return;
    }
    if (finding.kind == FindingKind::kDivergence) {
      ++result_.diverged;
      if (result_.divergence.empty()) result_.divergence = finding.message;
      return;
    }
    if (result_.bug.kind.empty()) describe(worker);
    if (is_the_tokens(finding, worker.channel())) {
      ++result_.same;
      return;
    }
    ++result_.other;
    differs(fmt::format("it showed {} after {} steps ({}), not {} after {}",
                        trace::name(finding.kind), finding.steps, finding.message,
                        trace::name(token_.finding), token_.steps));
  }

  [[nodiscard]] bool is_the_tokens(const trace::Finding& finding,
                                   const trace::Channel& channel) const {
    if (finding.kind != token_.finding) return false;
    // After a rebuild the same failure may take another number of steps.
    if (options_.lenient || ends_in_real_time(finding.kind)) return true;
    return finding.steps == token_.steps && channel.schedule_digest == token_.final_digest;
  }

  void describe(const engine::SupervisedWorker& worker) {
    const trace::Finding& finding = worker.outcome().finding;
    FoundBug& bug = result_.bug;
    bug.kind = trace::name(finding.kind);
    bug.message = finding.message;
    bug.token = token_text_;
    bug.steps = finding.steps;
    bug.preemptions = finding.preemptions;
    bug.execution = 1;
    bug.text = reports::render_text(trace_of(worker), {.colour = setup_.colour});
  }

  [[nodiscard]] trace::Trace trace_of(const engine::SupervisedWorker& worker) const {
    trace::RunFacts facts = run_facts(options_);
    facts.strategy.clear();  // a token does not say who found it
    facts.output = worker.outcome().output;
    const auto symbolizer = reports::make_symbolizer();
    return trace::collect_trace(worker.channel(), facts, token_text_, *symbolizer);
  }

  void write_trace(const engine::SupervisedWorker& worker) {
    if (trace_file_.empty()) return;
    const trace::Trace trace = trace_of(worker);
    trace::CollectedEvents events(worker.channel(), trace);
    const auto written = trace::write_trace(trace_file_, trace, events);
    if (!written) result_.trace_failure = written.error();
  }

  void differs(std::string what) {
    if (result_.difference.empty()) result_.difference = std::move(what);
  }

  const trace::Token& token_;
  const std::string token_text_;
  const Options& options_;
  const Setup& setup_;
  const std::function<void()>& body_;
  const std::string& trace_file_;
  ReplayResult result_;
};

/// How often the unlikely happened. What was offered in vain left no mark.
unsigned taken(const trace::Token& token, trace::ChoiceKind kind) {
  unsigned count = 0;
  token.deviations.for_each(token.tasks, [&](const trace::Deviation& deviation) {
    if (deviation.kind == kind) ++count;
  });
  return count;
}

}  // namespace

Options options_of(const trace::Token& token, Options options) {
  options.max_steps = token.step_cap;
  options.memory_points = token.memory_points;
  options.races = token.races;
  options.leaks = token.leaks;
  options.spurious_wakeups = taken(token, trace::ChoiceKind::kSpurious);
  options.allocation_failures = taken(token, trace::ChoiceKind::kOutOfMemory);
  return options;
}

ReplayResult replay(const trace::Token& token, Options options, const Setup& setup,
                    const std::function<void()>& body, std::uint64_t times,
                    const std::string& trace_file) {
  options = options_of(token, std::move(options));
  ReplayResult result;
  result.error = refusal();
  if (result.error.empty()) result.error = executor_refusal(options);
  if (!result.error.empty()) return result;
  result = Replayer(token, options, setup, body, trace_file).run(times);
  if (token.fingerprint != build_fingerprint()) {
    result.warning = "the token is from another build of this program";
    if (!options.lenient) {
      result.warning += fmt::format("; {} follows what still applies of it",
                                    option_name(setup.options, "lenient"));
    }
  }
  return result;
}

Result as_result(ReplayResult replay) {
  Result result;
  result.executions = replay.same + replay.nothing + replay.other + replay.diverged;
  result.steps = replay.steps;
  result.followed = std::move(replay.followed);
  result.error = std::move(replay.error);
  result.internal_error = std::move(replay.internal_error);
  result.warning = std::move(replay.warning);
  if (replay.nothing != 0) {
    result.warning += result.warning.empty() ? "" : "; ";
    result.warning += "the replay finished without the token's finding";
  }
  if (replay.diverged != 0) {
    result.divergence = "the replay diverged at " + replay.divergence;
  } else if (!replay.bug.kind.empty()) {
    if (replay.other != 0) {
      replay.bug.text =
          "The replay went another way: " + replay.difference + "\n" + replay.bug.text;
    }
    result.findings.push_back(std::move(replay.bug));
  }
  return result;
}

}  // namespace weft::cli
