// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/engine/explorer.h"

#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "harness/engine/explorer_estimator.h"
#include "harness/engine/explorer_interrupt.h"

namespace weft::engine {
namespace {

using trace::FindingKind;
using Clock = std::chrono::steady_clock;

/// Between two looks at the counters; the end of a worker wakes the loop at once.
constexpr int kTickMs = 20;

/// How long a worker may take to finish its execution once told to stop.
constexpr double kStopSeconds = 1;

/// Distinct bugs after which an exploration that keeps going has told enough.
constexpr std::size_t kMaxBugs = 100;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Which allowed processor we run on, by rank: lanes start from there, so that
/// several explorations at a time do not all pin themselves to processor 0.
std::uint32_t own_processor_rank() {
  cpu_set_t allowed;
  const int here = ::sched_getcpu();
  if (here < 0 || ::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 0;
  std::uint32_t rank = 0;
  for (int processor = 0; processor < here && processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(processor, &allowed)) ++rank;
  }
  return rank;
}

/// How many of executions lane+1, lane+1+jobs, ... are at most `schedules`.
std::uint64_t lane_share(std::uint64_t schedules, unsigned lane, unsigned jobs) {
  return schedules <= lane ? 0 : (schedules - lane - 1) / jobs + 1;
}

/// What a replay showed that was not what it should have shown.
std::string difference_of(const WorkerOutcome& replay) {
  switch (replay.kind) {
    case WorkerOutcome::Kind::kFinished: return "the replay found nothing";
    case WorkerOutcome::Kind::kFinding:
      return std::string("the replay found ") + trace::name(replay.finding.kind) + ": " +
             replay.finding.message;
    case WorkerOutcome::Kind::kInternal: return "the replay failed: " + replay.error;
  }
  return {};
}

struct Lane {
  unsigned number = 0;
  SupervisedWorker worker;
  std::unique_ptr<Strategy> strategy;
  std::uint64_t next = 0;    // its next execution
  std::uint64_t left = 0;    // executions of its share
  std::uint64_t failed = 0;  // executions that did not finish
  bool active = false;       // a worker runs, or will
};

class Exploration {
 public:
  Exploration(const ExplorerConfig& config, Body body, ExplorerHost& host)
      : config_(config), body_(body), host_(host), processor_(own_processor_rank()) {}

  ExplorerResult run();

 private:
  void open_lanes();
  void start(Lane& lane);
  void worker_ended(Lane& lane);
  void take_finding(Lane& lane);
  void report(Lane& lane);
  void pass_over(Lane& lane);
  void go_on_after(Lane& lane);
  void count_passed_over();
  void confirm(Lane& lane, Sighting& sighting);
  void doubt(Lane& lane, Sighting& sighting, const std::string& difference);
  void sleep_until_something_happens();
  void look_after(Lane& lane, double elapsed);
  void stop(const char* error = nullptr);
  [[nodiscard]] bool any_active() const;
  [[nodiscard]] Progress progress() const;
  void finish();

  const ExplorerConfig& config_;
  const Body body_;
  ExplorerHost& host_;
  const std::uint32_t processor_;
  const Clock::time_point begin_ = Clock::now();
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::unordered_set<std::uint64_t> bugs_;
  ExplorerResult result_;
  Lane* first_ = nullptr;  // without keep_going: the lane with the earliest finding
  std::optional<Clock::time_point> stopping_;
};

void Exploration::open_lanes() {
  const auto jobs = static_cast<unsigned>(
      std::clamp<std::uint64_t>(config_.schedules, 1, std::max(1u, config_.jobs)));
  for (unsigned number = 0; number < jobs; ++number) {
    auto lane = std::make_unique<Lane>();
    lane->number = number;
    lane->next = number + 1;
    lane->left = lane_share(config_.schedules, number, jobs);
    if (!lane->worker.prepare()) {
      result_.error = std::string("no memory for a worker's channel (") + std::strerror(errno) +
                      "): allow overcommit, or use fewer --jobs";
      return;
    }
    lanes_.push_back(std::move(lane));
  }
}

void Exploration::start(Lane& lane) {
  lane.active = lane.left > 0 && !stopping_ && result_.error.empty();
  if (!lane.active) return;
  lane.strategy = host_.make_strategy(lane.number);
  WorkerConfig worker = config_.worker;
  worker.strategy = lane.strategy.get();
  worker.first = lane.next;
  worker.stride = lanes_.size();
  worker.count = lane.left;
  worker.record = false;
  worker.processor = processor_ + lane.number;
  if (!lane.worker.start(config_.worker_main, worker, body_, config_.hang_seconds)) {
    lane.active = false;
    stop((std::string("cannot start a worker process (") + std::strerror(errno) +
          "): raise the limit on processes, or use fewer --jobs")
             .c_str());
  }
}

void Exploration::stop(const char* error) {
  if (error != nullptr && result_.error.empty()) result_.error = error;
  if (!stopping_) stopping_ = Clock::now();
  for (const auto& lane : lanes_) {
    if (lane->worker.running()) lane->worker.ask_to_stop();
  }
}

void Exploration::look_after(Lane& lane, double elapsed) {
  if (!lane.active) return;
  if (stopping_ && lane.worker.running() && seconds_since(*stopping_) > kStopSeconds &&
      !lane.worker.in_debugger()) {
    lane.worker.kill();
    lane.active = false;
    return;
  }
  // An earlier execution may still hold an earlier finding; later ones are of no interest.
  if (first_ != nullptr && lane.worker.channel().current.load(std::memory_order_relaxed) >
                               first_->worker.outcome().execution) {
    lane.worker.ask_to_stop();
  }
  if (lane.worker.poll(elapsed)) worker_ended(lane);
}

void Exploration::worker_ended(Lane& lane) {
  const WorkerOutcome& outcome = lane.worker.outcome();
  switch (outcome.kind) {
    case WorkerOutcome::Kind::kFinished:
      lane.active = false;
      if (lane.worker.channel().exhausted.load()) result_.exhausted = true;
      return;
    case WorkerOutcome::Kind::kInternal:
      lane.active = false;
      result_.internal_error = outcome.error;
      stop();
      return;
    case WorkerOutcome::Kind::kFinding: take_finding(lane); return;
  }
}

void Exploration::take_finding(Lane& lane) {
  const WorkerOutcome& outcome = lane.worker.outcome();
  lane.active = false;
  ++lane.failed;
  if (outcome.finding.kind == FindingKind::kUserError ||
      outcome.finding.kind == FindingKind::kUnsupported) {
    stop(outcome.finding.message);
    return;
  }
  // What fails in the warm-up leaves nothing to go on with.
  const bool suppressed = !outcome.in_warm_up && host_.suppresses(lane.worker);
  // A race ends no execution by itself: where the exploration goes on, so does this execution.
  if (outcome.finding.identity != 0 && (config_.keep_going || suppressed)) {
    if (!suppressed) report(lane);
    return pass_over(lane);
  }
  if (suppressed) return go_on_after(lane);
  // Every worker warms up in the same way, so the others fail in the same way.
  if (outcome.in_warm_up) stop();
  if (!config_.keep_going || outcome.in_warm_up) {
    if (first_ == nullptr || outcome.execution < first_->worker.outcome().execution) first_ = &lane;
    return;
  }
  report(lane);
  if (bugs_.size() >= kMaxBugs) stop();
  go_on_after(lane);
}

void Exploration::go_on_after(Lane& lane) {
  const std::uint64_t execution = lane.worker.outcome().execution;
  const std::uint64_t done = (execution - lane.next) / lanes_.size() + 1;
  lane.left -= std::min(lane.left, done);
  lane.next = execution + lanes_.size();
  start(lane);
}

void Exploration::pass_over(Lane& lane) {
  trace::Channel& channel = lane.worker.channel();
  const WorkerOutcome& outcome = lane.worker.outcome();
  --lane.failed;
  if (bugs_.size() >= kMaxBugs) return stop();
  if (channel.known_race_count == trace::kMaxKnownRaces) {
    return stop(
        "there are more different races than one exploration can pass over: mend some, "
        "or explore without them (races=0)");
  }
  // The execution is run again, and counted then.
  channel.known_races[channel.known_race_count++] = {outcome.finding.identity, 0,
                                                     outcome.finding.object};
  if (!outcome.in_warm_up) {
    const std::uint64_t done = (outcome.execution - lane.next) / lanes_.size();
    lane.left -= std::min(lane.left, done);
    lane.next = outcome.execution;
  }
  start(lane);
}

void Exploration::report(Lane& lane) {
  Sighting sighting;
  sighting.outcome = lane.worker.outcome();
  sighting.failed = &lane.worker.channel();
  sighting.execution = std::max<std::uint64_t>(sighting.outcome.execution, 1);
  sighting.identity = identity_of(*sighting.failed, sighting.outcome.finding);
  if (bugs_.contains(sighting.identity)) return host_.found_again(sighting.identity);
  if (sighting.outcome.finding.identity != 0 && host_.is_told(lane.worker, sighting.identity))
    return;
  bugs_.insert(sighting.identity);
  confirm(lane, sighting);
}

void Exploration::confirm(Lane& lane, Sighting& sighting) {
  const trace::Finding original = sighting.outcome.finding;
  SupervisedWorker again;
  const std::unique_ptr<Strategy> replay = host_.make_replay(lane.worker.channel());
  ExplorerConfig config = config_;
  if (original.kind == FindingKind::kHang) config.hang_seconds = hang_seconds_again(config);
  if (!again.prepare() || !run_single(config, body_, *replay, sighting.execution, true, again)) {
    doubt(lane, sighting, std::string("no worker for the replay: ") + std::strerror(errno));
    return;
  }
  // A schedule whose two runs differed may well agree in a third.
  if (original.kind != FindingKind::kNondeterminism && !same_finding(original, again.outcome())) {
    doubt(lane, sighting, difference_of(again.outcome()));
    return;
  }
  sighting.reproduced = true;
  sighting.recorded = &again.channel();
  // The replay's stacks are those of the trace. But it waited for a hang less
  // long than the message says, and need not show nondeterminism at all.
  if (original.kind == FindingKind::kHang || original.kind == FindingKind::kNondeterminism) {
    again.channel().finding = original;
  } else {
    sighting.outcome.finding = again.outcome().finding;
  }
  sighting.outcome.output = again.outcome().output;
  host_.found(sighting);
}

void Exploration::doubt(Lane& lane, Sighting& sighting, const std::string& difference) {
  trace::Finding& finding = sighting.outcome.finding;
  const std::string message = std::string("found once, but its replay differed: ") +
                              trace::name(finding.kind) + ": " + finding.message;
  finding.kind = FindingKind::kNondeterminism;
  std::snprintf(finding.message, sizeof finding.message, "%s", message.c_str());
  std::snprintf(finding.detail, sizeof finding.detail, "%s", difference.c_str());
  lane.worker.channel().finding = finding;
  host_.found(sighting);
}

void Exploration::sleep_until_something_happens() {
  std::vector<pollfd> ends;
  bool blind = false;
  for (const auto& lane : lanes_) {
    if (!lane->worker.running()) continue;
    if (lane->worker.wait_fd() < 0) blind = true;
    ends.push_back({.fd = lane->worker.wait_fd(), .events = POLLIN, .revents = 0});
  }
  ::poll(ends.data(), ends.size(), blind ? 1 : kTickMs);
}

bool Exploration::any_active() const {
  return std::any_of(lanes_.begin(), lanes_.end(), [](const auto& lane) { return lane->active; });
}

Progress Exploration::progress() const {
  Progress now;
  now.seconds = seconds_since(begin_);
  now.findings = bugs_.size();
  std::vector<std::uint8_t> registers(trace::kEstimatorRegisters);
  for (const auto& lane : lanes_) {
    const trace::Channel& channel = lane->worker.channel();
    now.executions += channel.executions.load(std::memory_order_relaxed) + lane->failed;
    now.steps += channel.total_steps.load(std::memory_order_relaxed);
    merge_registers(registers, channel.estimator);
  }
  // An execution that a finding ended is in no register, and an estimate may be too high.
  now.distinct = std::clamp(estimate_distinct(registers), now.executions == 0 ? 0.0 : 1.0,
                            static_cast<double>(now.executions));
  return now;
}

void Exploration::count_passed_over() {
  std::unordered_map<std::uint64_t, std::uint64_t> executions;
  for (const auto& lane : lanes_) {
    const trace::Channel& channel = lane->worker.channel();
    for (std::uint32_t i = 0; i < channel.known_race_count; ++i) {
      // Run again, with the racing memory watched, the execution may have taken another way.
      executions[channel.known_races[i].identity] +=
          std::max<std::uint64_t>(1, channel.known_races[i].executions);
    }
  }
  for (const auto& [race, count] : executions) host_.passed_over(identity_of_race(race), count);
}

void Exploration::finish() {
  result_.progress = progress();  // before the confirmation, which is no exploration
  if (first_ != nullptr) report(*first_);
  count_passed_over();
  result_.progress.findings = bugs_.size();
  for (const auto& lane : lanes_) {
    const trace::Channel& channel = lane->worker.channel();
    const std::uint64_t count = std::min<std::uint64_t>(channel.mark_count, trace::kMaxMarks);
    for (std::uint64_t i = 0; i < count; ++i) {
      const trace::Mark& mark = channel.marks[i];
      const auto known = std::find_if(result_.marks.begin(), result_.marks.end(),
                                      [&](const trace::Mark& m) { return m.id == mark.id; });
      if (known == result_.marks.end()) {
        result_.marks.push_back(mark);
      } else {
        known->hits += mark.hits;
      }
    }
  }
}

ExplorerResult Exploration::run() {
  const InterruptGuard guard;
  open_lanes();
  if (!result_.error.empty()) return result_;
  for (const auto& lane : lanes_) start(*lane);
  Clock::time_point last = Clock::now();
  while (any_active()) {
    sleep_until_something_happens();
    const Clock::time_point now = Clock::now();
    const double elapsed = std::chrono::duration<double>(now - last).count();
    last = now;
    if (guard.interrupted() && !result_.interrupted) {
      result_.interrupted = true;
      stop();
    }
    if (config_.seconds > 0 && seconds_since(begin_) >= config_.seconds) stop();
    for (const auto& lane : lanes_) look_after(*lane, elapsed);
    host_.progress(progress());
  }
  finish();
  return result_;
}

}  // namespace

double hang_seconds_again(const ExplorerConfig& config) {
  constexpr double kAgainSeconds = 2;
  return std::min(config.hang_seconds, kAgainSeconds);
}

ExplorerResult explore(const ExplorerConfig& config, Body body, ExplorerHost& host) {
  return Exploration(config, body, host).run();
}

bool run_single(const ExplorerConfig& config, Body body, Strategy& strategy,
                std::uint64_t execution, bool record, SupervisedWorker& worker) {
  WorkerConfig single = config.worker;
  single.strategy = &strategy;
  single.first = execution;
  single.stride = 1;
  single.count = 1;
  single.record = record;
  single.processor = own_processor_rank();
  const auto run = [&] {
    if (!worker.start(config.worker_main, single, body, config.hang_seconds)) return false;
    worker.wait();
    return true;
  };
  if (!run()) return false;
  const trace::Finding finding = worker.outcome().finding;
  const std::span accesses(finding.accesses, finding.access_count);
  const bool all_told = std::all_of(accesses.begin(), accesses.end(),
                                    [](const auto& access) { return access.stack.count > 1; });
  if (!record || all_told) return true;
  // The stacks of earlier accesses are only known once one knows which to look out for.
  const trace::Channel& channel = worker.channel();
  for (std::uint32_t i = 0; i < finding.access_count; ++i) {
    const trace::FindingAccess& access = finding.accesses[i];
    if (access.task >= channel.task_count) continue;
    single.look_out[i] = {channel.tasks[access.task].id, access.operation_index, access.kind};
  }
  return run();
}

}  // namespace weft::engine
