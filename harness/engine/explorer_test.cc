// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Goal: the supervisor counts, splits, stops, confirms and reports as its header says, whatever way
// a worker ends. Method: a stand-in for run_worker() that plays a scripted worker in a really
// forked process.

#include "harness/engine/explorer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace weft::engine {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using trace::FindingKind;
using trace::WorkerPhase;

/// What the scripted worker does in a given execution.
enum class Act {
  kPass,
  kFind,
  kFindOther,
  kDie,
  kExitSilently,
  kSanitizer,
  kHang,
  kInternal,
  kUserError
};

struct Script {
  std::uint64_t bad_execution = 0;  // 0: none
  std::uint64_t every = 0;          // also bad: its multiples
  Act act = Act::kPass;
  Act replay_act = Act::kPass;  // in the confirming replay
  bool bad_warm_up = false;
  unsigned pause_us = 0;  // per execution
};

/// The "learnt" state is a count of executions, so that a test sees it survive its worker.
class CountingStrategy : public Strategy {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "counting"; }
  Next next_execution(std::uint64_t, std::uint64_t) noexcept override {
    ++count_;
    return Next::kGo;
  }
  std::size_t pick(const Decision& decision) noexcept override { return decision.fallback; }
  std::uint64_t choose(const Choice&) noexcept override { return 0; }
  std::size_t save(unsigned char* buffer, std::size_t) const noexcept override {
    std::memcpy(buffer, &count_, sizeof count_);
    return sizeof count_;
  }
  bool load(const unsigned char* buffer, std::size_t size) noexcept override {
    if (size != sizeof count_) return size == 0;
    std::memcpy(&count_, buffer, sizeof count_);
    return true;
  }

 private:
  std::uint64_t count_ = 0;
};

[[noreturn]] void play(Act act, trace::Channel& channel, const char* message) {
  switch (act) {
    case Act::kPass:
    case Act::kFind:
    case Act::kFindOther:
    case Act::kUserError:
      channel.finding.kind =
          act == Act::kUserError ? FindingKind::kUserError : FindingKind::kAlways;
      std::snprintf(channel.finding.message, sizeof channel.finding.message, "%s",
                    act == Act::kFindOther ? "another message" : message);
      channel.finding_ready = true;
      ::_exit(static_cast<int>(WorkerExit::kFinding));
    case Act::kDie:
      ::kill(::getpid(), SIGKILL);
      for (;;) ::pause();
    case Act::kExitSilently: ::_exit(7);
    case Act::kSanitizer: {
      constexpr std::string_view kReport =
          "==1==ERROR\nSUMMARY: AddressSanitizer: heap-use-after-free a.cc:3 in f\n==1==ABORTING\n";
      (void)!::write(STDERR_FILENO, kReport.data(), kReport.size());
      ::_exit(1);
    }
    case Act::kHang:
      for (;;) ::pause();
    case Act::kInternal:
      (void)!::write(STDERR_FILENO, "weft: internal error: scripted\n", 31);
      ::_exit(static_cast<int>(WorkerExit::kInternal));
  }
  ::_exit(99);
}

void scripted_worker(const WorkerConfig& config, trace::Channel& channel, void (*)(void*),
                     void* argument) {
  const Script& script = *static_cast<const Script*>(argument);
  if (config.output_fd >= 0) {
    ::dup2(config.output_fd, STDOUT_FILENO);
    ::dup2(config.output_fd, STDERR_FILENO);
  }
  channel.running_tid = ::getpid();
  channel.phase = WorkerPhase::kWarmUp;
  if (script.bad_warm_up) play(script.act, channel, "in warm-up");
  (void)config.strategy->load(channel.strategy_state, channel.strategy_state_size);
  for (std::uint64_t i = 0; i < config.count && !channel.stop_requested; ++i) {
    const std::uint64_t execution = config.first + i * config.stride;
    channel.current = execution;
    channel.phase = WorkerPhase::kExecuting;
    (void)config.strategy->next_execution(execution, execution);
    channel.strategy_state_size =
        config.strategy->save(channel.strategy_state, sizeof channel.strategy_state);
    channel.heartbeat += 10;
    if (script.pause_us != 0) ::usleep(script.pause_us);
    const bool bad =
        execution == script.bad_execution || (script.every != 0 && execution % script.every == 0);
    const Act act = !bad ? Act::kPass : config.record ? script.replay_act : script.act;
    if (act != Act::kPass) {
      (void)!::write(STDOUT_FILENO, "subject's words\n", 16);
      play(act, channel, "not held");
    }
    channel.executions += 1;
    channel.total_steps += 10;
    channel.phase = WorkerPhase::kBetween;
  }
  channel.phase = WorkerPhase::kDone;
  ::_exit(static_cast<int>(WorkerExit::kFinished));
}

struct Seen {
  std::uint64_t execution;
  FindingKind kind;
  std::string message;
  std::string detail;
  std::string output;
  bool reproduced;
};

class RecordingHost : public ExplorerHost {
 public:
  std::unique_ptr<Strategy> make_strategy(unsigned) override {
    return std::make_unique<CountingStrategy>();
  }
  std::unique_ptr<Strategy> make_replay(const trace::Channel& failed) override {
    std::memcpy(&learnt, failed.strategy_state, sizeof learnt);
    return std::make_unique<CountingStrategy>();
  }
  void found(const Sighting& s) override {
    seen.push_back({s.execution, s.outcome.finding.kind, s.outcome.finding.message,
                    s.outcome.finding.detail, s.outcome.output, s.reproduced});
  }
  void found_again(std::uint64_t) override { ++again; }
  bool suppresses(const SupervisedWorker& worker) override {
    asked += 1;
    return worker.outcome().execution == suppressed;
  }
  void progress(const Progress&) override {}

  std::vector<Seen> seen;
  int again = 0;
  int asked = 0;
  std::uint64_t suppressed = 0;  // the execution whose finding is
  std::uint64_t learnt = 0;
};

struct Explored {
  ExplorerResult result;
  RecordingHost host;
};

Explored explore_script(Script script, ExplorerConfig config, std::uint64_t suppressed = 0) {
  Explored run;
  run.host.suppressed = suppressed;
  config.worker_main = scripted_worker;
  run.result = explore(config, Body{nullptr, &script}, run.host);
  // Nothing outlives an exploration.
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  return run;
}

TEST(Explorer, RunsExactlyTheSchedulesAskedForWhateverTheJobs) {
  for (const unsigned jobs : {1u, 2u, 3u, 64u}) {
    const Explored run = explore_script({}, {.schedules = 10, .jobs = jobs});
    EXPECT_EQ(run.result.progress.executions, 10u) << jobs;
    EXPECT_EQ(run.result.progress.steps, 100u) << jobs;
    EXPECT_TRUE(run.host.seen.empty());
  }
}

TEST(Explorer, ConfirmsTheFindingAndStops) {
  const Explored run = explore_script(
      {.bad_execution = 3, .act = Act::kFind, .replay_act = Act::kFind}, {.schedules = 1000});
  ASSERT_EQ(run.host.seen.size(), 1u);
  EXPECT_EQ(run.host.seen[0].execution, 3u);
  EXPECT_EQ(run.host.seen[0].kind, FindingKind::kAlways);
  EXPECT_EQ(run.host.seen[0].message, "not held");
  EXPECT_EQ(run.host.seen[0].output, "subject's words\n");
  EXPECT_TRUE(run.host.seen[0].reproduced);
  EXPECT_EQ(run.result.progress.executions, 3u);
}

TEST(Explorer, ReportsTheEarliestExecutionWhicheverLaneIsFaster) {
  // Every third execution fails: lane 2 of 3 fails first in number (3) although all lanes run at
  // once.
  const Explored run =
      explore_script({.every = 7, .act = Act::kFind, .replay_act = Act::kFind, .pause_us = 300},
                     {.schedules = 100, .jobs = 3});
  ASSERT_EQ(run.host.seen.size(), 1u);
  EXPECT_EQ(run.host.seen[0].execution, 7u);
}

TEST(Explorer, SaysSoWhenAFindingDoesNotComeBack) {
  const Explored nothing = explore_script({.bad_execution = 2, .act = Act::kFind}, {});
  ASSERT_EQ(nothing.host.seen.size(), 1u);
  EXPECT_EQ(nothing.host.seen[0].kind, FindingKind::kNondeterminism);
  EXPECT_THAT(nothing.host.seen[0].message, AllOf(HasSubstr("always"), HasSubstr("not held")));
  EXPECT_EQ(nothing.host.seen[0].detail, "the replay found nothing");
  EXPECT_FALSE(nothing.host.seen[0].reproduced);

  const Explored other =
      explore_script({.bad_execution = 2, .act = Act::kFind, .replay_act = Act::kFindOther}, {});
  ASSERT_EQ(other.host.seen.size(), 1u);
  EXPECT_EQ(other.host.seen[0].detail, "the replay found always: another message");
}

TEST(Explorer, KeepsGoingPastFindingsAndCountsRepetitions) {
  const Explored run = explore_script({.every = 5, .act = Act::kFind, .replay_act = Act::kFind},
                                      {.schedules = 23, .keep_going = true});
  EXPECT_EQ(run.result.progress.executions, 23u);
  EXPECT_EQ(run.result.progress.findings, 1u);
  EXPECT_EQ(run.host.seen.size(), 1u);
  EXPECT_EQ(run.host.again, 3);  // executions 10, 15 and 20 after 5
}

TEST(Explorer, GoesOnAfterWhatIsSuppressed) {
  const Script script{.every = 4, .act = Act::kFind, .replay_act = Act::kFind};
  const Explored run = explore_script(script, {.schedules = 100}, 4);
  ASSERT_EQ(run.host.seen.size(), 1u);
  EXPECT_EQ(run.host.seen[0].execution, 8u);
  EXPECT_EQ(run.result.progress.executions, 8u);
  EXPECT_EQ(run.host.asked, 2);

  const Explored alone =
      explore_script({.bad_execution = 4, .act = Act::kFind}, {.schedules = 10}, 4);
  EXPECT_TRUE(alone.host.seen.empty());
  EXPECT_EQ(alone.result.progress.executions, 10u);
  EXPECT_EQ(alone.result.progress.findings, 0u);
}

TEST(Explorer, NothingIsSuppressedInTheWarmUp) {
  const Explored run =
      explore_script({.act = Act::kFind, .bad_warm_up = true}, {.schedules = 10}, 0);
  EXPECT_EQ(run.host.seen.size(), 1u);
  EXPECT_EQ(run.host.asked, 0);
}

TEST(Explorer, WhatTheStrategyLearntSurvivesItsWorker) {
  // The tenth execution is the fifth worker's; its strategy has seen all ten.
  Script script{.every = 2, .act = Act::kFind, .replay_act = Act::kFind};
  const Explored run = explore_script(script, {.schedules = 10, .keep_going = true});
  EXPECT_EQ(run.host.again, 4);
  const Explored last = explore_script(
      {.bad_execution = 9, .act = Act::kFind, .replay_act = Act::kFind}, {.schedules = 10});
  EXPECT_EQ(last.host.learnt, 9u);
}

TEST(Explorer, AWorkerThatIsKilledIsAFinding) {
  const Explored run =
      explore_script({.bad_execution = 2, .act = Act::kDie, .replay_act = Act::kDie}, {});
  ASSERT_EQ(run.host.seen.size(), 1u);
  EXPECT_EQ(run.host.seen[0].kind, FindingKind::kWorkerDied);
  EXPECT_THAT(run.host.seen[0].message, HasSubstr("SIGKILL"));
  EXPECT_TRUE(run.host.seen[0].reproduced);
}

TEST(Explorer, AWorkerThatExitsSilentlyIsAFinding) {
  const Explored run = explore_script(
      {.bad_execution = 2, .act = Act::kExitSilently, .replay_act = Act::kExitSilently}, {});
  ASSERT_EQ(run.host.seen.size(), 1u);
  EXPECT_EQ(run.host.seen[0].message,
            "the worker process vanished: it exited with status 7 without a word");
}

TEST(Explorer, ASanitizerThatEndsTheWorkerIsQuoted) {
  const Explored run = explore_script(
      {.bad_execution = 2, .act = Act::kSanitizer, .replay_act = Act::kSanitizer}, {});
  ASSERT_EQ(run.host.seen.size(), 1u);
  EXPECT_EQ(run.host.seen[0].message, "AddressSanitizer: heap-use-after-free a.cc:3 in f");
  EXPECT_TRUE(run.host.seen[0].reproduced);
}

TEST(Explorer, AHangNamesTheSystemCall) {
  const Explored run = explore_script(
      {.bad_execution = 2, .act = Act::kHang, .replay_act = Act::kHang}, {.hang_seconds = 0.3});
  ASSERT_EQ(run.host.seen.size(), 1u);
  EXPECT_EQ(run.host.seen[0].kind, FindingKind::kHang);
  EXPECT_THAT(run.host.seen[0].message,
              AllOf(HasSubstr("has not come back for 0.3 s"), HasSubstr("it is in pause(...)"),
                    HasSubstr("waiting for signals is not controlled")));
}

TEST(Explorer, AWarmUpThatFailsIsExecutionOne) {
  const Explored run = explore_script({.act = Act::kFind, .bad_warm_up = true},
                                      {.schedules = 100, .jobs = 2, .keep_going = true});
  ASSERT_EQ(run.host.seen.size(), 1u);
  EXPECT_EQ(run.host.seen[0].execution, 1u);
  EXPECT_EQ(run.host.seen[0].message, "in warm-up");
  EXPECT_TRUE(run.host.seen[0].reproduced);
}

TEST(Explorer, OurOwnBugsAndUserErrorsAreNoFindings) {
  const Explored internal = explore_script({.bad_execution = 1, .act = Act::kInternal}, {});
  EXPECT_TRUE(internal.host.seen.empty());
  EXPECT_THAT(internal.result.internal_error, HasSubstr("weft: internal error: scripted"));

  const Explored user = explore_script({.bad_execution = 1, .act = Act::kUserError}, {});
  EXPECT_TRUE(user.host.seen.empty());
  EXPECT_EQ(user.result.error, "not held");
}

TEST(Explorer, TheClockEndsAnExploration) {
  const auto begin = std::chrono::steady_clock::now();
  const Explored run = explore_script(
      {.pause_us = 1000}, {.schedules = kUnlimitedSchedules, .seconds = 0.2, .jobs = 2});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(took.count(), 0.2);
  EXPECT_LT(took.count(), 3);
  EXPECT_GT(run.result.progress.executions, 0u);
}

TEST(Explorer, ASignalStopsItAndKeepsWhatWasFound) {
  const pid_t self = ::getpid();
  const pid_t killer = ::fork();
  if (killer == 0) {
    ::usleep(200'000);
    ::kill(self, SIGINT);
    ::_exit(0);
  }
  Script script{.bad_execution = 5, .act = Act::kFind, .replay_act = Act::kFind, .pause_us = 1000};
  ExplorerConfig config{.schedules = kUnlimitedSchedules, .keep_going = true};
  config.worker_main = scripted_worker;
  RecordingHost host;
  const ExplorerResult result = explore(config, Body{nullptr, &script}, host);
  ::waitpid(killer, nullptr, 0);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(host.seen.size(), 1u);
}

TEST(WorkerProcess, KeepsTheEndOfALongOutput) {
  struct Chatty {
    static void run(const WorkerConfig& config, trace::Channel&, void (*)(void*), void*) {
      for (int i = 0; i < 200'000; ++i) (void)!::write(config.output_fd, "0123456789\n", 11);
      (void)!::write(config.output_fd, "last\n", 5);
      ::_exit(0);
    }
  };
  trace::Channel* channel = trace::map_channel();
  WorkerProcess process;
  ASSERT_TRUE(process.start(Chatty::run, WorkerConfig(), *channel, {}, true));
  ASSERT_TRUE(process.wait(10'000));
  const std::string end = process.output_tail(16 * 1024);
  EXPECT_TRUE(end.ends_with("89\nlast\n"));
  EXPECT_EQ(end.size(), 16u * 1024);
  process.trim_output();
  EXPECT_EQ(process.output_tail(16 * 1024), end);
  trace::unmap_channel(channel);
}

TEST(Identity, OfAHangIsItsLoopsCallersAndNotWhereInItTheTaskWas) {
  trace::Channel* channel = trace::map_channel();
  ASSERT_NE(channel, nullptr);
  channel->module_count = 1;
  channel->modules[0].id = 7;
  trace::Finding hang;
  hang.kind = FindingKind::kHang;
  hang.task_count = 1;
  hang.task = hang.tasks[0].index = 1;
  trace::Stack& stack = hang.tasks[0].stack;
  stack.count = 2;
  for (std::uint32_t i = 0; i < 2; ++i) {
    stack.frames[i].module = 0;
    stack.frames[i].offset = 100 * (i + 1);
  }
  const std::uint64_t identity = identity_of(*channel, hang);
  stack.frames[0].offset = 108;
  EXPECT_EQ(identity_of(*channel, hang), identity);
  stack.frames[1].offset = 208;
  EXPECT_NE(identity_of(*channel, hang), identity);
  trace::unmap_channel(channel);
}

TEST(Watchdog, ReadsTheKernelsWords) {
  const HangFacts reading =
      interpret_system_call("0 0x0 0x7ffe 0x400 0x0 0x0 0x0 0x7ffd 0x7f12", 'S');
  EXPECT_EQ(reading.activity, "it is in read(0, ...)");
  EXPECT_EQ(reading.hint, "blocking input is not controlled");
  EXPECT_THAT(interpret_system_call("202 0x7ffe 0x80 0x2 0x0 0x0 0x0 0x7ffd 0x7f12", 'S').hint,
              testing::HasSubstr("a lock inside libc, such as that of a FILE"));
  EXPECT_EQ(interpret_system_call("running", 'R').activity,
            "it is computing without a schedule point");
  EXPECT_EQ(interpret_system_call("running", 'T').activity, "it is stopped");
  EXPECT_EQ(interpret_system_call("9999 0x0", 'S').activity, "it is in system call 9999");
  EXPECT_FALSE(interpret_system_call("", '?').known);
}

}  // namespace
}  // namespace weft::engine
