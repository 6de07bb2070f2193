// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// weft hash: one number over the traces of many executions, for
// scripts/evidence determinism to compare between processes. Not in --help.
//
// Every schedule runs twice in one worker, and the two traces must be equal: that is
// determinism in-process. Equal numbers from two processes show the rest.

#include <fmt/format.h>
#include <sys/mman.h>

#include <map>
#include <memory>

#include "harness/base/ids.h"
#include "harness/cli/commands.h"
#include "harness/engine/explorer_worker.h"
#include "harness/strategies/factory.h"

namespace weft::cli {
namespace {

/// What is hashed: whole traces, each schedule's twice; or the digests of schedules at whose every
/// point the strategy was asked, or at which it gave leeway and must have come to the same.
enum class HashOf { kTraces, kAsked, kUnasked };

struct HashCommand {
  std::vector<std::string> patterns;
  ExplorationFlags flags;
  HashOf of = HashOf::kTraces;
};

/// Shared with the worker, which fills it in.
struct Hashes {
  std::uint64_t combined = 0;
  std::uint64_t schedules = 0;
  std::uint64_t first_of_pair = 0;
  std::uint64_t differing = 0;         // pairs
  std::uint64_t first_difference = 0;  // the second execution of the first such pair
};

/// Executions come in pairs: the determinism strategy repeats each schedule once.
void add_execution(std::uint64_t execution, trace::Channel& channel, void* context) {
  Hashes& hashes = *static_cast<Hashes*>(context);
  if (execution % 2 == 1) {
    hashes.first_of_pair = channel.trace_hash;
    return;
  }
  hashes.combined = fold(hashes.combined, channel.trace_hash);
  ++hashes.schedules;
  if (hashes.first_of_pair == channel.trace_hash) return;
  if (hashes.differing++ == 0) hashes.first_difference = execution;
}

void add_schedule(std::uint64_t, trace::Channel& channel, void* context) {
  Hashes& hashes = *static_cast<Hashes*>(context);
  hashes.combined = fold(hashes.combined, channel.schedule_digest);
  ++hashes.schedules;
}

/// Empty, or what went wrong.
std::string hash_scenario(const Scenario& scenario, const Options& options, HashOf of,
                          Hashes& hashes) {
  std::string error;
  const bool traces = of == HashOf::kTraces;
  const auto strategy = strategies::make((traces ? "determinism:" : "") + options.strategy, error);
  if (strategy == nullptr) return error;
  engine::SupervisedWorker worker;
  if (!worker.prepare()) return "out of memory for the channel";
  void (*body)() = scenario.body;
  const engine::Body subject = {[](void* given) { (*static_cast<void (**)()>(given))(); },
                                static_cast<void*>(&body)};
  engine::WorkerConfig config;
  config.strategy = strategy.get();
  config.seed = options.seed;
  config.count = (traces ? 2 : 1) * options.schedules.value_or(scenario.budget);
  config.memory_points = options.memory_points;
  // A hash is of whole executions, which a suppressed race would end.
  config.detect_races = options.races && options.suppressions.empty();
  config.detect_leaks = options.leaks;
  config.spurious_wakeups = options.spurious_wakeups;
  config.allocation_failures = options.allocation_failures;
  config.executor = executor_kind(options);
  // Where somebody observes, the strategy is always asked.
  config.hash_every_execution = of != HashOf::kUnasked;
  config.after_execution = traces ? &add_execution : &add_schedule;
  config.after_execution_context = &hashes;
  if (!worker.start(&engine::run_worker, config, subject, options.hang_seconds)) {
    return "no process for the worker";
  }
  worker.wait();

  const engine::WorkerOutcome& outcome = worker.outcome();
  if (outcome.kind != engine::WorkerOutcome::Kind::kFinished) {
    return fmt::format("execution {}: {}{}", outcome.execution, outcome.finding.message,
                       outcome.error);
  }
  if (hashes.differing != 0) {
    return fmt::format("{} of {} schedules had two traces, the first in execution {}",
                       hashes.differing, hashes.schedules, hashes.first_difference);
  }
  return "";
}

int hash(const Context& context, const HashCommand& command) {
  if (const std::string mistake = mistake_in(command.flags); !mistake.empty()) {
    return complain(mistake);
  }
  const std::vector<std::string> strays = unmatched(command.patterns);
  if (!strays.empty()) return nothing_matched(context, strays);
  const std::vector<const Scenario*> chosen = matching(command.patterns);
  void* const shared =
      mmap(nullptr, sizeof(Hashes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return complain("out of memory", kExitInternal);
  int status = kExitOk;
  for (const Scenario* scenario : chosen) {
    const Options options = options_for(*scenario, command.flags);
    Hashes& hashes = *new (shared) Hashes;
    if (const std::string error = hash_scenario(*scenario, options, command.of, hashes);
        !error.empty()) {
      status = complain(scenario->name + ": " + error, kExitFinding);
    }
    fmt::print("{:016x} {} {}\n", hashes.combined, hashes.schedules, scenario->name);
  }
  munmap(shared, sizeof(Hashes));
  return status;
}

}  // namespace

void add_hash(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "hash", "a hash over the traces of the scenarios that PATTERN matches, each schedule twice");
  sub->group("");  // not listed
  auto command = std::make_shared<HashCommand>();
  sub->add_option("PATTERN", command->patterns, "as for run")->required();
  const std::map<std::string, HashOf> things = {
      {"traces", HashOf::kTraces}, {"asked", HashOf::kAsked}, {"unasked", HashOf::kUnasked}};
  sub->add_option("--of", command->of, "traces, or schedules: asked, unasked")
      ->transform(CLI::CheckedTransformer(things));
  command->flags.add(*sub, {"schedules", "strategy", "seed", "memory_points", "races", "leaks",
                            "spurious_wakeups", "allocation_failures", "executor", "hang_seconds"});
  sub->callback([&context, command] {
    context.run = [&context, command] { return hash(context, *command); };
  });
}

}  // namespace weft::cli
