// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: whatever is logged is read back, through memory alone and through memory and disk; regular
// schedules take next to nothing; no bytes are believed.
// Method: hand-made and random logs, a spill file of small blocks, a full disk, damaged bytes.

#include "harness/trace/choice_log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "harness/base/prng.h"
#include "harness/trace/deviation_log.h"

namespace weft::trace {
namespace {

std::vector<TaskRow> tasks_of(std::size_t count) {
  std::vector<TaskRow> rows = {{kRootTask, kNoTaskIndex, 0}};
  for (std::uint32_t i = 0; i + 1 < count; ++i) rows.push_back({kRootTask.child(i), 0, i});
  return rows;
}

Deviation switch_to(const std::vector<TaskRow>& tasks, TaskIndex at, std::uint64_t operation,
                    TaskIndex chosen) {
  return {.task = tasks[at].id,
          .operation = operation,
          .value = tasks[chosen].id.value,
          .digest = static_cast<std::uint16_t>(operation * 40503),
          .task_index = at,
          .value_index = chosen};
}

// As the engine makes them: operations ascend, kinds and ordinals are mixed.
std::vector<Deviation> random_log(Prng& random, const std::vector<TaskRow>& tasks,
                                  std::size_t count) {
  std::vector<std::uint64_t> operations(tasks.size());
  std::vector<Deviation> log;
  auto at = TaskIndex{0};
  while (log.size() < count) {
    operations[at] += random.below(4);
    const auto chosen = static_cast<TaskIndex>(random.below(tasks.size()));
    Deviation deviation = switch_to(tasks, at, operations[at], chosen);
    if (random.below(10) == 0) {
      deviation.kind = static_cast<ChoiceKind>(random.below(7));
      deviation.nth = static_cast<std::uint16_t>(random.below(300));
      if (!chooses_task(deviation.kind)) {
        deviation.value = random.next() >> random.below(64);
        deviation.value_index = kNoTaskIndex;
      }
    }
    log.push_back(deviation);
    at = random.below(8) == 0 ? static_cast<TaskIndex>(random.below(tasks.size())) : chosen;
  }
  return log;
}

// What of a log is read back: few of many have a digest.
std::vector<Deviation> as_kept(std::vector<Deviation> log) {
  for (std::size_t i = 0; i < log.size(); ++i) {
    log[i].has_digest = carries_digest(i);
    if (!log[i].has_digest) log[i].digest = 0;
  }
  return log;
}

std::vector<Deviation> read(std::string_view bytes, const std::vector<TaskRow>& tasks,
                            std::string* error = nullptr) {
  std::vector<Deviation> all;
  ChoiceReader in(bytes, tasks);
  for (Deviation deviation; in.next(deviation);) all.push_back(deviation);
  if (error != nullptr) *error = in.error() == nullptr ? "" : in.error();
  EXPECT_EQ(in.position(), all.size());
  return all;
}

class ChoiceLogTest : public ::testing::Test {
 protected:
  ChoiceLogTest() { log_->open({}); }

  bool add_all(const std::vector<Deviation>& all) {
    return std::all_of(all.begin(), all.end(), [&](const Deviation& d) { return log_->add(d); });
  }

  const std::unique_ptr<ChoiceLog> log_ = std::make_unique<ChoiceLog>();
  SpillFile file_;
};

TEST_F(ChoiceLogTest, RandomLogsAreReadBack) {
  Prng random(7);
  for (int round = 0; round < 100; ++round) {
    const auto tasks = tasks_of(1 + random.below(20));
    const auto log = random_log(random, tasks, random.below(3000));
    log_->clear();
    ASSERT_TRUE(add_all(log));
    ASSERT_EQ(read(log_->bytes(tasks), tasks), as_kept(log));
  }
}

TEST_F(ChoiceLogTest, WhatIsSpilledIsReadBackAsIfItWereNot) {
  Prng random(8);
  for (const std::size_t block : {64u, 128u, 4096u}) {
    const auto tasks = tasks_of(3);
    const auto log = random_log(random, tasks, 20'000);
    log_->open({});
    ASSERT_TRUE(add_all(log));
    const std::string in_memory = log_->bytes(tasks);
    log_->open(file_.empty(), block);
    // At every moment, because a worker may be killed at any.
    for (std::size_t i = 0; i < 2000; ++i) {
      ASSERT_TRUE(log_->add(log[i]));
      if (i % 7 == 0) {
        ASSERT_EQ(read(log_->bytes(tasks), tasks).size(), i + 1);
      }
    }
    ASSERT_TRUE(add_all({log.begin() + 2000, log.end()}));
    ASSERT_EQ(log_->bytes(tasks), in_memory);
  }
}

TEST_F(ChoiceLogTest, TasksThatTakeTurnsCostNextToNothing) {
  for (const std::size_t count : {2u, 3u, 50u}) {
    const auto tasks = tasks_of(count);
    log_->clear();
    const std::uint64_t rounds = 1'000'000 / count;
    for (std::uint64_t n = 1; n <= rounds; ++n) {
      for (TaskIndex i = 0; i < count; ++i) {
        ASSERT_TRUE(
            log_->add(switch_to(tasks, i, n * 5, static_cast<TaskIndex>((i + 1u) % count))));
      }
    }
    const std::string bytes = log_->bytes(tasks);
    // 3 bytes a run of 256, 4 to 7 each for the first 1,024.
    EXPECT_LT(bytes.size(), 20'000u);
    EXPECT_EQ(read(bytes, tasks).size(), rounds * count);
  }
}

TEST_F(ChoiceLogTest, ARandomSwitchTakesAByte) {
  Prng random(9);
  const auto tasks = tasks_of(2);
  log_->open(file_.empty());
  std::uint64_t operations[2] = {};
  TaskIndex at = 0;
  constexpr std::size_t kCount = 200'000;
  for (std::size_t i = 0; i < kCount; ++i) {
    do ++operations[at];
    while (random.below(2) != 0);
    const auto other = static_cast<TaskIndex>(1 - at);
    ASSERT_TRUE(log_->add(switch_to(tasks, at, operations[at], other)));
    at = other;
  }
  EXPECT_LT(log_->bytes(tasks).size(), kCount);
}

TEST_F(ChoiceLogTest, AnExecutionThatFitsWritesNoFile) {
  const SpillPlace place = file_.empty();
  log_->open(place);
  const auto tasks = tasks_of(2);
  for (std::uint64_t i = 1; i < 10'000; ++i) ASSERT_TRUE(log_->add(switch_to(tasks, 0, i * i, 1)));
  EXPECT_EQ(::lseek(place.descriptor, 0, SEEK_END), 0);
}

TEST_F(ChoiceLogTest, AFullDiskKeepsWhatWasLogged) {
  const int full = ::open("/dev/full", O_RDWR | O_CLOEXEC);
  ASSERT_GE(full, 0);
  const SpillPlace places[] = {
      {.descriptor = full, .limit = ~std::uint64_t{0} >> 1}, {}, {.descriptor = full, .limit = 10}};
  const auto tasks = tasks_of(2);
  for (const SpillPlace& place : places) {
    log_->open(place, 128);
    std::vector<Deviation> taken;
    for (std::uint64_t i = 1; i < 1000; ++i) {
      const Deviation deviation = switch_to(tasks, 0, i * i, 1);
      if (!log_->add(deviation)) break;
      taken.push_back(deviation);
    }
    EXPECT_LT(taken.size(), 100u);
    EXPECT_EQ(read(log_->bytes(tasks), tasks), taken);
  }
  ::close(full);
}

TEST_F(ChoiceLogTest, EveryTruncationGivesABeginning) {
  Prng random(10);
  const auto tasks = tasks_of(4);
  const auto log = random_log(random, tasks, 300);
  ASSERT_TRUE(add_all(log));
  const std::string bytes = log_->bytes(tasks);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto begin = read(std::string_view(bytes).substr(0, size), tasks);
    ASSERT_LE(begin.size(), log.size());
    ASSERT_TRUE(std::equal(begin.begin(), begin.end(), log.begin()));
  }
}

TEST_F(ChoiceLogTest, RandomBytesAreReadOrRefused) {
  Prng random(11);
  const auto tasks = tasks_of(3);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes(random.below(40), '\0');
    for (char& c : bytes) c = static_cast<char>(random.next());
    // A run of millions is sound, and only takes its time.
    if (std::count_if(bytes.begin(), bytes.end(), [](char c) { return (c & 0x86) == 0x80; }) != 0)
      continue;
    std::string error;
    const auto all = read(bytes, tasks, &error);
    // What was accepted is written and read again as the same.
    DeviationLog again;
    for (const Deviation& deviation : all) again.push_back(deviation);
    EXPECT_EQ(again.expanded(tasks), all);
    EXPECT_EQ(again.size(), all.size());
  }
}

TEST(ChoiceReaderTest, SaysWhatIsWrong) {
  const auto error_of = [](std::string_view bytes) {
    std::string error;
    (void)read(bytes, tasks_of(2), &error);
    return error;
  };
  using std::string_view_literals::operator""sv;
  EXPECT_EQ(error_of(""), "");
  EXPECT_EQ(error_of("\x0a"), "");  // the root at its operation 1
  EXPECT_EQ(error_of("\x0b"), "it is cut short");
  EXPECT_EQ(error_of("\x0c\x02"), "it chooses a task that is not listed");
  EXPECT_EQ(error_of("\x06\x01"), "it is cut short");
  EXPECT_EQ(error_of("\x3e"), "its kind is unknown");
  EXPECT_EQ(error_of("\x86\x04"), "it names a task that is not listed");
  EXPECT_EQ(error_of("\x46\x01\x00"sv), "its ordinal is malformed");
  EXPECT_EQ(error_of("\xf8\xff\xff\xff\x7f"), "more follow than a token may hold");
  // Twice to an operation that lies beyond 2^63.
  EXPECT_EQ(error_of("\x06\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00"
                     "\x06\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00"sv),
            "its operation precedes the one before");
}

}  // namespace
}  // namespace weft::trace
