// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: a trace read back says what was written; a damaged file is refused by section and reason,
// never believed and never a crash. Method: round trips, then cuts, flips and forged sections.

#include "harness/trace/trace_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "harness/trace/bytes.h"
#include "harness/trace/checksum.h"
#include "harness/trace/file_io.h"

namespace weft::trace {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

// One of everything, none of it at its default.
Trace sample() {
  Trace trace;
  trace.meta = {.scenario = "classic/abba.buggy",
                .token = "weft1.abc",
                .strategy = "pct",
                .seed = 7,
                .execution = 1234,
                .fingerprint = 0xfeed,
                .final_digest = 0xd1,
                .trace_hash = 0xd2,
                .memory_points = false};
  trace.host = {{"kernel", "Linux 6.1"}};
  trace.modules = {{.path = "/opt/test", .id = 11, .base = 0x555555554000}};
  trace.tasks = {{kRootTask, kNoTaskIndex, 0}, {kRootTask.child(0), 0, 0}};
  const ObjectId a{.owner = 11, .offset = 0x4010, .space = ObjectSpace::kModule};
  const ObjectId b{
      .owner = kRootTask.value, .offset = 8, .ordinal = 3, .space = ObjectSpace::kHeap};
  const Site site{.module = 0, .offset = 0x1234};

  Finding& finding = trace.finding;
  finding.kind = FindingKind::kDeadlock;
  finding.task = 1;
  finding.signal = 6;
  finding.steps = 14;
  finding.preemptions = 2;
  finding.fault_address = 0x10;
  std::strcpy(finding.message, "tasks wait for each other in a cycle");
  std::strcpy(finding.file, "abba.cc");
  finding.line = 12;
  std::strcpy(finding.detail, "more\nlines");
  finding.task_count = 1;
  FindingTask& task = finding.tasks[0];
  task = {.index = 1,
          .state = TaskState::kBlocked,
          .in_cycle = true,
          .operation = OpKind::kMutexLock,
          .object = b,
          .operation_index = 5,
          .waits_for = 0,
          .held_count = 1,
          .held = {{a, site}},
          .stack = {.count = 1, .frames = {site}}};

  finding.object = a;
  finding.missed_wake = {.step = 3, .by = 1, .waiter = 0};
  finding.weak_pair = {.object = a,
                       .write = {.task = 0, .operation = OpKind::kAtomicStore, .suffices = true},
                       .read = {.task = 1, .operation = OpKind::kAtomicLoad, .order = 2}};
  finding.starved = {.waiter = 0, .since = 2, .passed_over = 4, .most = 3};
  finding.access_count = 1;
  finding.accesses[0] = {.task = 1,
                         .kind = AccessKind::kAtomicWrite,
                         .size = 4,
                         .operation_index = 6,
                         .held_count = 1,
                         .held = {{b, site}},
                         .stack = {.count = 1, .frames = {site}}};

  trace.symbols[site] = {{.function = "f(int)", .file = "abba.cc", .line = 3},
                         {.function = "main", .file = "abba.cc", .line = 30}};
  trace.symbols[{0, 0x9999}] = {};
  trace.names[a] = "A";
  trace.stacks = {{.count = 1, .frames = {site}}, {}};
  trace.events = {{.step = 1, .task = 0, .kind = OpKind::kSpawn, .argument = 1, .site = site},
                  {.step = 2,
                   .task = 1,
                   .kind = OpKind::kMutexLock,
                   .width = 4,
                   .order = 2,
                   .preempted = true,
                   .enabled_count = 2,
                   .operation_index = 5,
                   .object = a,
                   .value = ~std::uint64_t{0},
                   .argument = 3,
                   .time = 99,
                   .enabled = 3,
                   .digest = 0xabc,
                   .site = site,
                   .stack = 0}};
  trace.events_dropped = 4;
  trace.output = "hello\n";
  return trace;
}

std::string error_of(std::string_view bytes) {
  const auto trace = decode_trace(bytes);
  EXPECT_FALSE(trace);
  return trace.error();
}

void append_section(std::string& file, std::string_view name, std::string_view payload) {
  ByteWriter out;
  out.raw(name);
  out.fixed64(payload.size());
  out.fixed64(checksum(payload));
  out.raw(payload);
  file += out.bytes();
}

constexpr std::size_t kHeaderBytes = 12;
constexpr std::size_t kSectionHeaderBytes = 20;

// `file` with the payload of section `name` replaced.
std::string with_section(const std::string& file, std::string_view name, std::string_view payload) {
  std::string result = file.substr(0, kHeaderBytes);
  for (std::size_t at = kHeaderBytes; at < file.size();) {
    const std::string_view found = std::string_view(file).substr(at, 4);
    ByteReader size(std::string_view(file).substr(at + 4, 8));
    const std::size_t length = size.fixed64();
    append_section(
        result, found,
        found == name ? payload : std::string_view(file).substr(at + kSectionHeaderBytes, length));
    at += kSectionHeaderBytes + length;
  }
  return result;
}

TEST(TraceFile, ReadsBackAsWritten) {
  const Trace trace = sample();
  const auto read = decode_trace(encode_trace(trace));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->meta, trace.meta);
  EXPECT_EQ(read->host, trace.host);
  EXPECT_EQ(read->modules, trace.modules);
  EXPECT_EQ(read->tasks, trace.tasks);
  EXPECT_EQ(read->symbols, trace.symbols);
  EXPECT_EQ(read->names, trace.names);
  EXPECT_EQ(read->events_dropped, 4u);
  EXPECT_EQ(read->output, "hello\n");

  EXPECT_EQ(read->finding.kind, FindingKind::kDeadlock);
  EXPECT_EQ(read->finding.signal, 6);
  EXPECT_STREQ(read->finding.message, trace.finding.message);
  EXPECT_STREQ(read->finding.file, "abba.cc");
  EXPECT_EQ(read->finding.line, 12);
  EXPECT_STREQ(read->finding.detail, "more\nlines");
  ASSERT_EQ(read->finding.task_count, 1u);
  const FindingTask& task = read->finding.tasks[0];
  EXPECT_TRUE(task.in_cycle);
  EXPECT_EQ(task.state, TaskState::kBlocked);
  EXPECT_EQ(task.object, trace.finding.tasks[0].object);
  EXPECT_EQ(task.held[0].object, trace.finding.tasks[0].held[0].object);
  EXPECT_EQ(task.held[0].acquired_at, (Site{0, 0x1234}));
  EXPECT_EQ(task.stack.frames[0], (Site{0, 0x1234}));

  ASSERT_EQ(read->events.size(), 2u);
  const Event& event = read->events[1];
  EXPECT_EQ(event.kind, OpKind::kMutexLock);
  EXPECT_EQ(event.value, ~std::uint64_t{0});
  EXPECT_EQ(event.object, trace.events[1].object);
  EXPECT_TRUE(event.preempted);
  EXPECT_EQ(event.stack, 0u);
  EXPECT_EQ(read->events[0].stack, kNoStack);
  ASSERT_EQ(read->stacks.size(), 2u);
  EXPECT_EQ(read->stacks[0].frames[0], (Site{0, 0x1234}));

  // Whatever the list above forgot is in the bytes.
  EXPECT_EQ(encode_trace(*read), encode_trace(trace));
}

TEST(TraceFile, ReadsBackThroughTheFile) {
  const std::string directory = ::testing::TempDir() + "weft_trace_test";
  std::filesystem::create_directory(directory);
  const auto path = write_trace(directory + "/trace.weft", sample());
  ASSERT_TRUE(path) << path.error();
  for (const std::string& source : {directory, *path}) {
    const auto read = read_trace(source);
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(read->meta, sample().meta);
  }
  std::filesystem::remove_all(directory);
  EXPECT_EQ(read_trace(directory).error(),
            "cannot open " + directory + ": No such file or directory");
}

TEST(TraceFile, EveryTruncationIsRefused) {
  const std::string bytes = encode_trace(sample());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(error_of(bytes.substr(0, size)),
                AnyOf(HasSubstr("cut off"), HasSubstr("not a weft trace")));
  }
  EXPECT_EQ(error_of(bytes + "x"), "bad trace: bytes follow its end");
}

TEST(TraceFile, EveryFlippedBitIsRefused) {
  const std::string bytes = encode_trace(sample());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    // A flipped section name leaves a section that nobody knows; the one it was may be optional.
    const auto trace = decode_trace(flipped);
    if (trace) {
      EXPECT_NE(encode_trace(*trace), bytes);
    }
  }
}

TEST(TraceFile, NamesWhatIsWrong) {
  const std::string bytes = encode_trace(sample());
  EXPECT_EQ(error_of("PK\x03\x04 and so on"), "bad trace: this is not a weft trace");
  std::string newer = bytes;
  newer[8] = 2;
  EXPECT_EQ(error_of(newer), "bad trace: version 2 is unknown to this weft, which reads version 1");
  std::string damaged = bytes;
  damaged[kHeaderBytes + kSectionHeaderBytes] ^= 1;
  EXPECT_EQ(error_of(damaged), "bad trace: section META is damaged: its checksum is wrong");
  EXPECT_EQ(error_of(with_section(bytes, "MODS", "\x05")), "bad trace: section MODS is malformed");

  std::string twice = bytes.substr(0, bytes.size() - kSectionHeaderBytes);
  append_section(twice, "OUTP", std::string_view("\0", 1));
  EXPECT_EQ(error_of(twice), "bad trace: section OUTP occurs twice");

  std::string bare = bytes.substr(0, kHeaderBytes);
  append_section(bare, "END.", "");
  EXPECT_EQ(error_of(bare), "bad trace: section META is missing");
}

TEST(TraceFile, SkipsSectionsItDoesNotKnow) {
  std::string bytes = encode_trace(sample());
  bytes.resize(bytes.size() - kSectionHeaderBytes);
  append_section(bytes, "LANE", "of a later weft");
  append_section(bytes, "END.", "");
  const auto trace = decode_trace(bytes);
  ASSERT_TRUE(trace) << trace.error();
  EXPECT_EQ(trace->meta, sample().meta);
}

TEST(TraceFile, BelievesNoCountThatTheFileCannotHold) {
  const std::string bytes = encode_trace(sample());
  ByteWriter huge;
  huge.varint(0);
  huge.varint(1 << 22);
  EXPECT_EQ(error_of(with_section(bytes, "EVNT", huge.bytes())),
            "bad trace: section EVNT is malformed");
  ByteWriter stacks;
  stacks.varint(1 << 18);
  EXPECT_EQ(error_of(with_section(bytes, "STCK", stacks.bytes())),
            "bad trace: section STCK is malformed");
}

TEST(TraceFile, RefusesReferencesToNothing) {
  const auto broken = [](void (*breaks)(Trace&)) {
    Trace trace = sample();
    breaks(trace);
    return error_of(encode_trace(trace));
  };
  EXPECT_EQ(broken([](Trace& trace) { trace.tasks[1].parent = 1; }),
            "bad trace: task 1 precedes its parent");
  EXPECT_EQ(broken([](Trace& trace) { trace.finding.task = 2; }),
            "bad trace: the finding names no task of the trace");
  EXPECT_EQ(broken([](Trace& trace) { trace.finding.tasks[0].waits_for = 2; }),
            "bad trace: the finding names no task of the trace");
  EXPECT_EQ(broken([](Trace& trace) { trace.events[1].task = 2; }),
            "bad trace: step 2 names no task of the trace");
  EXPECT_EQ(broken([](Trace& trace) { trace.events[1].stack = 2; }),
            "bad trace: step 2 names no stack of the trace");
}

// Events as an execution of `count` steps would have left them, the last ones in `trace`.
class ManyEvents final : public EventSource {
 public:
  explicit ManyEvents(std::uint64_t count) : count_(count) {}
  bool next(Event& event) override {
    if (step_ == count_) return false;
    ++step_;
    event = of(step_);
    return true;
  }
  // Long varints now and then, so that events straddle whatever a reader reads at a time.
  static Event of(std::uint64_t step) {
    return {.step = step,
            .task = static_cast<TaskIndex>(step % 2),
            .kind = OpKind::kAtomicLoad,
            .operation_index = step / 2,
            .object = {.owner = 3, .offset = step % 5, .space = ObjectSpace::kModule},
            .value = step % 3 == 0 ? ~std::uint64_t{0} : step,
            .argument = step << step % 64,
            .digest = step * 0x9e37'79b9'7f4a'7c15};
  }

 private:
  const std::uint64_t count_;
  std::uint64_t step_ = 0;
};

TEST(TraceFile, OfManyEventsTheLastAreKept) {
  const std::string path = ::testing::TempDir() + "weft_many.weft";
  for (const std::uint64_t count :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{kMaxEventsInMemory},
        std::uint64_t{kMaxEventsInMemory} + 1, std::uint64_t{300'000}}) {
    Trace trace = sample();
    trace.events_before = count - std::min<std::uint64_t>(count, kMaxEventsInMemory);
    trace.events.clear();
    for (std::uint64_t step = trace.events_before + 1; step <= count; ++step) {
      trace.events.push_back(ManyEvents::of(step));
    }
    ManyEvents all(count);
    const auto written = write_trace(path, trace, all);
    ASSERT_TRUE(written) << written.error();
    const auto read = read_trace(path);
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(read->events_before, trace.events_before);
    EXPECT_EQ(read->events_dropped, trace.events_dropped);
    ASSERT_EQ(read->events.size(), trace.events.size());
    for (std::size_t i = 0; i < read->events.size(); ++i) {
      ASSERT_EQ(read->events[i].step, trace.events[i].step);
      ASSERT_EQ(read->events[i].object, trace.events[i].object);
      ASSERT_EQ(read->events[i].value, trace.events[i].value);
      ASSERT_EQ(read->events[i].digest, trace.events[i].digest);
    }
    EXPECT_EQ(read->output, trace.output);
    // The same bytes as in one piece.
    if (trace.events_before == 0) {
      const auto bytes = read_file(path, 1 << 30);
      ASSERT_TRUE(bytes);
      EXPECT_TRUE(*bytes == encode_trace(trace));
    } else {
      std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
      EXPECT_THAT(read_trace(path).error(), HasSubstr("section EVNT is cut off"));
    }
    std::filesystem::remove(path);
  }
}

TEST(TraceFile, AFileThatCannotBeWrittenIsOneLineAndLeavesNothing) {
  ManyEvents none(0);
  Trace trace = sample();
  trace.events.clear();
  EXPECT_THAT(write_trace("/no/such/directory/trace.weft", trace, none).error(),
              HasSubstr("cannot create /no/such/directory/trace.weft"));
}

}  // namespace
}  // namespace weft::trace
