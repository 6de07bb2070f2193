// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: whatever a worker left in its channel becomes a trace that the reader accepts, with names
// looked up once. Method: hand-filled channels, sound and overwritten, and a symbolizer that
// counts.

#include "harness/trace/collect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "harness/trace/trace_file.h"

namespace weft::trace {
namespace {

class CountingSymbolizer : public Symbolizer {
 public:
  std::vector<Frame> code(const std::string& module, std::uint64_t offset) override {
    ++code_lookups;
    return {
        {.function = module + "!f", .file = "f.cc", .line = static_cast<std::uint32_t>(offset)}};
  }
  std::string data(const std::string& module, std::uint64_t offset) override {
    ++data_lookups;
    return offset == 0x4010 ? module + "!counter" : "";
  }

  int code_lookups = 0;
  int data_lookups = 0;
};

struct Unmap {
  void operator()(Channel* channel) const noexcept { unmap_channel(channel); }
};

class Collect : public ::testing::Test {
 protected:
  Collect() {
    channel().module_count = 1;
    channel().modules[0] = {.base = 0, .id = 11, .path = "test"};
    channel().task_count = 2;
    channel().tasks[0] = {kRootTask, kNoTaskIndex, 0};
    channel().tasks[1] = {kRootTask.child(0), 0, 0};
    channel().finding.kind = FindingKind::kAlways;
    channel().finding.task = 1;
    std::strcpy(channel().finding.message, "sum == 2");
    channel().steps = 3;
    channel().schedule_digest = 77;
    for (std::uint64_t i = 0; i < 3; ++i) {
      channel().events.add(
          {.step = i + 1,
           .task = static_cast<TaskIndex>(i % 2),
           .kind = OpKind::kPlainWrite,
           .object = {.owner = 11, .offset = 0x4010, .space = ObjectSpace::kModule},
           .site = {.module = 0, .offset = 0x100},
           .stack = 0});
    }
    channel().stack_count = 1;
    channel().stacks[0] = {.count = 2, .frames = {{0, 0x100}, {0, 0x200}}};
    EXPECT_TRUE(channel().choices.add(deviation_));
  }

  Channel& channel() { return *channel_; }
  Trace collect() { return collect_trace(channel(), facts_, "weft1.x", symbolizer_); }

  const std::unique_ptr<Channel, Unmap> channel_{map_channel()};
  const RunFacts facts_{.scenario = "s",
                        .strategy = "pct",
                        .seed = 5,
                        .execution = 9,
                        .fingerprint = 3,
                        .step_cap = 100,
                        .output = "out"};
  CountingSymbolizer symbolizer_;
  const Deviation deviation_{.task = kRootTask,
                             .operation = 2,
                             .value = kRootTask.child(0).value,
                             .task_index = 0,
                             .value_index = 1};
};

TEST_F(Collect, TellsWhatTheWorkerLeft) {
  const Trace trace = collect();
  EXPECT_EQ(trace.meta.scenario, "s");
  EXPECT_EQ(trace.meta.token, "weft1.x");
  EXPECT_EQ(trace.meta.final_digest, 77u);
  EXPECT_EQ(trace.finding.kind, FindingKind::kAlways);
  EXPECT_STREQ(trace.finding.message, "sum == 2");
  EXPECT_EQ(trace.tasks.size(), 2u);
  EXPECT_EQ(trace.events.size(), 3u);
  EXPECT_EQ(trace.output, "out");
  EXPECT_EQ(trace.names.at(trace.events[0].object), "test!counter");
  EXPECT_EQ(trace.symbols.at({0, 0x200}).at(0).line, 0x200u);
}

TEST_F(Collect, LooksUpEachPlaceOnce) {
  (void)collect();
  EXPECT_EQ(symbolizer_.code_lookups, 2);
  EXPECT_EQ(symbolizer_.data_lookups, 1);
}

TEST_F(Collect, TheTokenHoldsTheDeviations) {
  const auto token = collect_token(channel(), facts_);
  ASSERT_TRUE(token) << token.error();
  EXPECT_EQ(token->scenario, "s");
  EXPECT_EQ(token->finding, FindingKind::kAlways);
  EXPECT_EQ(token->steps, 3u);
  EXPECT_EQ(token->final_digest, 77u);
  EXPECT_EQ(token->step_cap, 100u);
  ASSERT_EQ(token->deviations.size(), 1u);
  EXPECT_EQ(token->deviations.expanded(token->tasks)[0], deviation_);
  const CollectedChoices choices = collect_choices(channel());
  EXPECT_EQ(choices.tasks.size(), 2u);
  EXPECT_EQ(choices.deviations.expanded(choices.tasks)[0], deviation_);
}

TEST_F(Collect, AnOverwrittenChannelGivesATraceThatReads) {
  // The worst that a stray memset can do.
  for (const int byte : {0xff, 0x7f, 0x01}) {
    std::memset(static_cast<void*>(&channel().finding), byte, sizeof(Finding));
    std::memset(static_cast<void*>(channel().tasks), byte, sizeof channel().tasks);
    std::memset(static_cast<void*>(channel().modules), byte, sizeof channel().modules);
    std::memset(static_cast<void*>(&channel().events), byte, 10 * sizeof(Event));
    std::memset(static_cast<void*>(channel().stacks), byte, 10 * sizeof(Stack));
    std::memset(static_cast<void*>(&channel().choices), byte, sizeof(ChoiceLog));
    channel().stack_count = 10;
    channel().task_count = 0xffffffff;
    channel().module_count = 0xffffffff;
    const auto read = decode_trace(encode_trace(collect()));
    EXPECT_TRUE(read) << read.error();
    // Whether this is a token or a refusal depends on the byte; either way nothing is believed.
    const auto token = collect_token(channel(), facts_);
    if (token) {
      EXPECT_TRUE(parse_token(format_token(*token)));
    }
  }
}

}  // namespace
}  // namespace weft::trace
