// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/cli/session.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "harness/base/check.h"
#include "harness/cli/finding_names.h"
#include "harness/cli/finding_store.h"
#include "harness/cli/fingerprint.h"
#include "harness/cli/suppressions.h"
#include "harness/cli/terminal.h"
#include "harness/strategies/factory.h"
#include "harness/strategies/replay.h"
#include "reports/symbols.h"

namespace weft::cli {
namespace {

constexpr std::uint64_t kDefaultSchedules = 1000;
constexpr rlim_t kAddressSpace = rlim_t{100} << 30;  // a worker has some 80 GiB of it

/// Turns what the explorer sights into what a user reads.
class Session final : public engine::ExplorerHost {
 public:
  Session(const Options& options, const Setup& setup, engine::Body body, Suppressions suppressions)
      : options_(options),
        setup_(setup),
        config_(explorer_config(options)),
        body_(body),
        suppressions_(std::move(suppressions)) {
    if (setup.progress) progress_ = std::make_unique<ProgressLine>(options.name);
  }

  std::unique_ptr<engine::Strategy> make_strategy(unsigned) override {
    std::string error;
    std::unique_ptr<engine::Strategy> strategy = strategies::make(options_.strategy, error);
    WEFT_CHECK(strategy != nullptr, "the strategy's name was checked before the exploration");
    return strategy;
  }

  std::unique_ptr<engine::Strategy> make_replay(const trace::Channel& failed) override {
    const trace::CollectedChoices choices = trace::collect_choices(failed);
    return std::make_unique<strategies::Replay>(choices.deviations, choices.tasks,
                                                strategies::ReplayMode::kStrict);
  }

  bool suppresses(const engine::SupervisedWorker& worker) override {
    const trace::Finding& finding = worker.outcome().finding;
    if (!suppressions_.concern(finding.kind)) return false;
    const auto [known, fresh] =
        suppressed_by_.try_emplace(engine::identity_of(worker.channel(), finding));
    if (fresh) known->second = suppressions_.match(finding.kind, names_in(worker));
    if (!known->second) return false;
    // What is passed over is counted at the end.
    if (finding.identity == 0) suppressions_.count(*known->second, 1);
    return true;
  }

  bool is_told(const engine::SupervisedWorker& worker, std::uint64_t identity) override {
    const std::uint64_t lines = lines_of_race(worker.channel(), symbolizer());
    if (lines == 0) return false;
    const auto [first, fresh] = race_at_.try_emplace(lines, identity);
    if (!fresh) same_as_[identity] = first->second;
    return !fresh;
  }

  void found(const engine::Sighting& sighting) override {
    trace::RunFacts facts = run_facts(options_);
    facts.execution = sighting.execution;
    facts.output = sighting.outcome.output;
    position_[sighting.identity] = bugs_.size();
    bugs_.push_back(make_bug(sighting, facts, options_.out, setup_));
  }

  void found_again(std::uint64_t identity) override {
    const auto known = position_.find(identity);
    if (known != position_.end()) ++bugs_[known->second].hits;
  }

  void passed_over(std::uint64_t identity, std::uint64_t executions) override {
    const auto suppressed = suppressed_by_.find(identity);
    if (suppressed != suppressed_by_.end() && suppressed->second) {
      suppressions_.count(*suppressed->second, executions);
    }
    const auto told = same_as_.find(identity);
    const auto known = position_.find(told == same_as_.end() ? identity : told->second);
    if (known == position_.end()) return;
    // Which executions showed both of two that are told as one is not known.
    std::uint64_t& hits = bugs_[known->second].hits;
    hits = std::max(hits, executions);
  }

  void progress(const engine::Progress& progress) override {
    if (progress_ != nullptr) progress_->update(progress);
  }

  [[nodiscard]] const engine::ExplorerConfig& config() const { return config_; }
  [[nodiscard]] std::vector<FoundBug> take_bugs() { return std::move(bugs_); }
  [[nodiscard]] const std::vector<Suppression>& suppressions() const {
    return suppressions_.entries();
  }

 private:
  /// With both sides' whole stacks: the earlier one's are known after a replay alone.
  std::vector<std::string> names_in(const engine::SupervisedWorker& worker) {
    trace::Symbolizer& symbols = symbolizer();
    if (worker.outcome().finding.access_count != 0) {
      engine::SupervisedWorker again;
      const std::unique_ptr<engine::Strategy> replay = make_replay(worker.channel());
      if (again.prepare() &&
          engine::run_single(config_, body_, *replay,
                             std::max<std::uint64_t>(1, worker.outcome().execution), true, again) &&
          engine::same_finding(worker.outcome().finding, again.outcome())) {
        return names_of(again.channel(), symbols);
      }
    }
    return names_of(worker.channel(), symbols);
  }

  trace::Symbolizer& symbolizer() {
    if (symbolizer_ == nullptr) symbolizer_ = reports::make_symbolizer();
    return *symbolizer_;
  }

  const Options& options_;
  const Setup& setup_;
  const engine::ExplorerConfig config_;
  const engine::Body body_;
  std::unique_ptr<ProgressLine> progress_;
  std::vector<FoundBug> bugs_;
  std::unordered_map<std::uint64_t, std::size_t> position_;  // in bugs_, by identity
  Suppressions suppressions_;
  std::unordered_map<std::uint64_t, std::optional<std::size_t>> suppressed_by_;  // by identity
  std::unordered_map<std::uint64_t, std::uint64_t> race_at_;  // its identity, by its lines
  std::unordered_map<std::uint64_t, std::uint64_t> same_as_;  // the identity that was told instead
  std::unique_ptr<trace::Symbolizer> symbolizer_;
};

std::size_t thread_count() {
  std::error_code error;
  const std::filesystem::directory_iterator tasks("/proc/self/task", error);
  return error ? 1 : static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

}  // namespace

std::string option_name(OptionStyle style, std::string_view field) {
  std::string name(field);
  switch (style) {
    case OptionStyle::kCommand:
      std::replace(name.begin(), name.end(), '_', '-');
      return "--" + name;
    case OptionStyle::kFramework: return "--weft_" + name;
    case OptionStyle::kEnvironment:
      for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      return "WEFT_" + name;
  }
  WEFT_UNREACHABLE("an unknown style of options");
}

std::string refusal() {
  rlimit address_space{};
  if (::getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur < kAddressSpace) {
    return fmt::format(
        "the limit on address space (ulimit -v) is too low: a worker reserves much, of which it "
        "uses little; raise it to unlimited, or to {} GiB",
        kAddressSpace >> 30);
  }
  const std::size_t threads = thread_count();
  if (threads == 1) return {};
  return fmt::format(
      "this process has {} threads: an exploration forks, which takes along only one; call it "
      "before other threads start, or join them first",
      threads);
}

std::string executor_refusal(const Options& options) {
  if (options.executor != "alias" || engine::is_traced(::getpid())) return {};
  const char* const reason = engine::why_no_alias();
  if (reason == nullptr) return {};
  return fmt::format("the alias executor does not work here: {}; take baton", reason);
}

std::string executor_note(const Options& options) {
  static bool told = false;
  if (told || options.executor != "auto" || engine::is_traced(::getpid())) return {};
  told = true;
  const char* const reason = engine::why_no_alias();
  if (reason == nullptr) return {};
  return fmt::format("the slower baton executor is used: {}", reason);
}

engine::ExecutorKind executor_kind(const Options& options) {
  if (options.executor == "baton") return engine::ExecutorKind::kBaton;
  if (options.executor == "fresh") return engine::ExecutorKind::kFresh;
  if (engine::is_traced(::getpid())) {
    // A debugger that follows children would follow the one that tests whether the alias executor
    // works; and under the baton an execution goes on after a stop.
    return options.executor == "alias" ? engine::ExecutorKind::kAlias
                                       : engine::ExecutorKind::kBaton;
  }
  return engine::why_no_alias() == nullptr ? engine::ExecutorKind::kAlias
                                           : engine::ExecutorKind::kBaton;
}

engine::ExplorerConfig explorer_config(const Options& options) {
  engine::ExplorerConfig config;
  config.worker.seed = options.seed;
  config.worker.step_cap = options.max_steps;
  config.worker.memory_points = options.memory_points;
  config.worker.detect_races = options.races;
  config.worker.detect_leaks = options.leaks;
  config.worker.spurious_wakeups = options.spurious_wakeups;
  config.worker.allocation_failures = options.allocation_failures;
  config.worker.executor = executor_kind(options);
  const std::uint64_t unnamed = options.seconds ? engine::kUnlimitedSchedules : kDefaultSchedules;
  config.schedules = options.schedules.value_or(unnamed);
  config.seconds = options.seconds.value_or(0);
  config.jobs = options.jobs;
  config.keep_going = options.keep_going;
  config.hang_seconds = options.hang_seconds;
  return config;
}

trace::RunFacts run_facts(const Options& options) {
  return {.scenario = options.name,
          .strategy = options.strategy,
          .seed = options.seed,
          .fingerprint = build_fingerprint(),
          .step_cap = options.max_steps,
          .memory_points = options.memory_points,
          .races = options.races,
          .leaks = options.leaks};
}

Result explore(const Options& options, const Setup& setup, const std::function<void()>& body) {
  Result result;
  result.error = refusal();
  if (result.error.empty()) result.error = executor_refusal(options);
  if (result.error.empty()) (void)strategies::make(options.strategy, result.error);
  trace::Outcome<Suppressions> suppressions = Suppressions();
  if (result.error.empty() && !options.suppressions.empty()) {
    suppressions = Suppressions::load(options.suppressions);
    if (!suppressions) result.error = suppressions.error();
  }
  if (!result.error.empty()) return result;

  result.warning = executor_note(options);
  Session session(options, setup, engine::body_of(body), std::move(*suppressions));
  const engine::ExplorerResult explored =
      engine::explore(session.config(), engine::body_of(body), session);
  result.executions = explored.progress.executions;
  result.steps = explored.progress.steps;
  result.seconds = explored.progress.seconds;
  result.distinct = explored.progress.distinct;
  result.exhausted = explored.exhausted;
  result.interrupted = explored.interrupted;
  result.error = explored.error;
  result.internal_error = explored.internal_error;
  result.findings = session.take_bugs();
  result.suppressions = session.suppressions();
  for (const trace::Mark& mark : explored.marks) {
    if (mark.hits == 0) result.never.emplace_back(mark.text);
  }
  return result;
}

}  // namespace weft::cli
