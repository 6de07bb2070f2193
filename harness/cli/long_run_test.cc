// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: an execution that outgrows the memory of its logs is the same, to the byte of its token and
// its trace, as if it had not; its replay too; a disk that does not take it is one clear line.
// Method: workers of this program, on mutexes, with blocks of a few hundred bytes and of the usual
// size.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "harness/engine/explorer.h"
#include "harness/strategies/factory.h"
#include "harness/strategies/replay.h"
#include "harness/trace/collect.h"
#include "harness/trace/event_log.h"
#include "harness/trace/token.h"

namespace weft::cli {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kSteps = 300'000;

void take_turns(void* argument) {
  const std::uint64_t rounds = *static_cast<const std::uint64_t*>(argument) / 4;
  static std::mutex mutex;
  const auto work = [rounds] {
    for (std::uint64_t i = 0; i < rounds; ++i) const std::scoped_lock lock(mutex);
  };
  std::thread other(work);
  work();
  other.join();
}

struct Blocks {
  std::size_t choice_bytes = trace::ChoiceLog::kBlockBytes;
  std::size_t events = trace::EventLog::kBlockEvents;
};
constexpr Blocks kTiny = {.choice_bytes = 256, .events = 100};

/// One execution in a worker of its own; the channel lives as long as this.
class OneRun {
 public:
  OneRun(engine::Strategy& strategy, std::uint64_t steps, Blocks blocks, bool record) {
    EXPECT_TRUE(worker_.prepare());
    engine::ExplorerConfig config;
    config.worker.choice_block_bytes = blocks.choice_bytes;
    config.worker.event_block = blocks.events;
    EXPECT_TRUE(engine::run_single(config, {take_turns, &steps}, strategy, 1, record, worker_));
  }

  [[nodiscard]] const engine::WorkerOutcome& outcome() const { return worker_.outcome(); }
  [[nodiscard]] const trace::Channel& channel() const { return worker_.channel(); }
  [[nodiscard]] trace::Token token() const {
    const auto token = trace::collect_token(channel(), {.scenario = "turns"});
    EXPECT_TRUE(token) << token.error();
    return *token;
  }

 private:
  engine::SupervisedWorker worker_;
};

OneRun explored(const std::string& strategy, std::uint64_t steps, Blocks blocks) {
  std::string error;
  const std::unique_ptr<engine::Strategy> made = strategies::make(strategy, error);
  return {*made, steps, blocks, false};
}

TEST(LongRun, ALogThatIsSpilledGivesTheSameToken) {
  for (const char* strategy : {"random", "round_robin", "pct"}) {
    const OneRun whole = explored(strategy, kSteps, {});
    const OneRun spilled = explored(strategy, kSteps, kTiny);
    ASSERT_EQ(whole.outcome().kind, engine::WorkerOutcome::Kind::kFinished)
        << whole.outcome().finding.message;
    EXPECT_GT(whole.channel().steps, kSteps);
    EXPECT_GT(trace::collect_choices(spilled.channel()).deviations.bytes().size(),
              3 * kTiny.choice_bytes);
    EXPECT_EQ(trace::format_token(spilled.token()), trace::format_token(whole.token()));
  }
}

TEST(LongRun, ItsReplayRecordsEveryStep) {
  const OneRun original = explored("random", kSteps, kTiny);
  const auto token = trace::parse_token(trace::format_token(original.token()));
  ASSERT_TRUE(token) << token.error();
  std::uint64_t hashes[2] = {};
  for (const Blocks blocks : {kTiny, Blocks()}) {
    strategies::Replay replay(token->deviations, token->tasks, strategies::ReplayMode::kStrict);
    const OneRun again(replay, kSteps, blocks, true);
    ASSERT_EQ(again.outcome().kind, engine::WorkerOutcome::Kind::kFinished)
        << again.outcome().finding.message;
    EXPECT_EQ(again.channel().steps, original.channel().steps);
    EXPECT_EQ(again.channel().schedule_digest, original.channel().schedule_digest);
    trace::EventReader events(again.channel().events);
    trace::Event event;
    std::uint64_t count = 0;
    std::uint64_t& hash = hashes[blocks.events == kTiny.events ? 0 : 1];
    while (events.next(event)) {
      ASSERT_EQ(event.step, ++count);
      hash = fold(fold(hash, event.digest), event.value);
    }
    EXPECT_EQ(count, original.channel().steps);
  }
  EXPECT_EQ(hashes[0], hashes[1]);
}

TEST(LongRun, ADiskThatIsFullIsOneLine) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit little{.rlim_cur = 10'000, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  const OneRun run = explored("random", kSteps, kTiny);
  std::string error;
  const auto strategy = strategies::make("round_robin", error);
  const OneRun recorded(*strategy, 20'000, {.events = 10}, true);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);

  ASSERT_EQ(run.outcome().kind, engine::WorkerOutcome::Kind::kFinding);
  EXPECT_EQ(run.outcome().finding.kind, trace::FindingKind::kUserError);
  EXPECT_THAT(run.outcome().finding.message, HasSubstr("the choice log does not fit on the disk"));
  // What had been logged is there.
  EXPECT_GT(run.token().deviations.size(), 1000u);

  // A recording goes on, and says how much it did not keep.
  EXPECT_EQ(recorded.outcome().kind, engine::WorkerOutcome::Kind::kFinished);
  const trace::EventLog& events = recorded.channel().events;
  EXPECT_GT(events.count(), 50u);
  EXPECT_EQ(events.count() + events.dropped(), recorded.channel().steps);
}

}  // namespace
}  // namespace weft::cli
