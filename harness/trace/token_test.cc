// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: a token read back says what was written, and a damaged one is refused with the part and the
// reason. Method: round trips of hand-made and random tokens, then every kind of damage by hand.

#include "harness/trace/token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/base/prng.h"
#include "harness/trace/base64url.h"
#include "harness/trace/bytes.h"
#include "harness/trace/channel.h"
#include "harness/trace/checksum.h"

namespace weft::trace {
namespace {

using ::testing::HasSubstr;

// Root, two children, a grandchild, and a timer whose id does not follow from its place.
std::vector<TaskRow> family() {
  const TaskId second = kRootTask.child(1);
  return {{kRootTask, kNoTaskIndex, 0},
          {kRootTask.child(0), 0, 0},
          {second, 0, 1},
          {second.child(0), 2, 0},
          {TaskId{0x7469'6d65'7200}, kNoTaskIndex, 1}};
}

Deviation to_task(const std::vector<TaskRow>& tasks, TaskIndex at, std::uint64_t operation,
                  TaskIndex chosen, ChoiceKind kind = ChoiceKind::kSchedule) {
  return {.task = tasks[at].id,
          .operation = operation,
          .value = tasks[chosen].id.value,
          .kind = kind,
          .digest = static_cast<std::uint16_t>(operation * 977),
          .task_index = at,
          .value_index = chosen};
}

Token abba() {
  const auto tasks = family();
  Deviation drawn = to_task(tasks, 3, 9, 0);
  drawn.kind = ChoiceKind::kDraw;
  drawn.value = ~std::uint64_t{0};
  drawn.nth = 2;
  drawn.value_index = kNoTaskIndex;
  const std::vector<Deviation> deviations = {to_task(tasks, 0, 3, 3), drawn,
                                             to_task(tasks, 3, 17, 2, ChoiceKind::kWaiter),
                                             to_task(tasks, 2, 1'000'000, 4)};
  auto token = with_deviations({.scenario = "classic/abba.buggy",
                                .fingerprint = 0x0123'4567'89ab'cdef,
                                .memory_points = false,
                                .step_cap = 1'000'000,
                                .finding = FindingKind::kDeadlock,
                                .steps = 14,
                                .final_digest = 42},
                               tasks, deviations);
  EXPECT_TRUE(token) << token.error();
  return *token;
}

std::string error_of(std::string_view text) {
  const auto token = parse_token(text);
  EXPECT_FALSE(token) << "parsed: " << text;
  return token.error();
}

// A token whose frame and checksum are right around any body.
std::string framed(std::string_view body) {
  ByteWriter out;
  out.varint(body.size());
  out.raw(body);
  out.fixed32(static_cast<std::uint32_t>(checksum(out.bytes())));
  return std::string(kTokenPrefix) + encode_base64url(out.bytes());
}

// The body of a token up to and without its task table.
ByteWriter body_head() {
  ByteWriter body;
  body.varint(1);
  body.fixed64(7);
  body.string("s");
  body.varint(100);
  body.varint(static_cast<std::uint64_t>(FindingKind::kAssertion));
  body.varint(5);
  body.fixed64(9);
  return body;
}

TEST(Token, ReadsBackAsWritten) {
  const Token token = abba();
  const auto parsed = parse_token(format_token(token));
  ASSERT_TRUE(parsed) << parsed.error();
  EXPECT_EQ(*parsed, token);
}

TEST(Token, TextIsStable) {
  // Changes only together with the prefix: tokens in old logs must replay or be refused by name.
  EXPECT_EQ(
      format_token(abba()),
      "weft2.XQDvzauJZ0UjARJjbGFzc2ljL2FiYmEuYnVnZ3nAhD0IDioAAAAAAAAABAAAAgECAAEBAHJlbWl0AAAEHQ"
      "JzC98CCQL___________8BWSKPAggB4UCHAcCEPQNA1tCVmmg");
}

TEST(Token, OfVersionOneStillReads) {
  const auto parsed = parse_token(
      "weft1.WwDvzauJZ0UjARJjbGFzc2ljL2FiYmEuYnVnZ3nAhD0IDioAAAAAAAAABAAAAgECAAEBAHJlbWl0AAAE"
      "AAMCcwsrCQL___________8BWSIhCAHhQBDAhD0DQNabeE4s");
  ASSERT_TRUE(parsed) << parsed.error();
  EXPECT_EQ(*parsed, abba());
}

TEST(Token, OfVersionOneCanBeFollowedByNothing) {
  EXPECT_THAT(error_of("weft1." + format_token(abba()).substr(6)), HasSubstr("bad token: "));
}

TEST(Token, WithoutDeviationsReadsBackAsWritten) {
  const Token token{.scenario = "a", .finding = FindingKind::kAlways, .steps = 1};
  const auto parsed = parse_token(format_token(token));
  ASSERT_TRUE(parsed) << parsed.error();
  EXPECT_EQ(*parsed, token);
}

TEST(Token, KeepsOnlyTasksThatDeviationsNeed) {
  const auto tasks = family();
  const std::vector<Deviation> deviations = {to_task(tasks, 3, 1, 2)};
  const auto token = with_deviations({}, tasks, deviations);
  ASSERT_TRUE(token) << token.error();
  ASSERT_EQ(token->tasks.size(), 3u);  // the first child and the timer take no part
  EXPECT_EQ(token->tasks[0].id, kRootTask);
  EXPECT_EQ(token->tasks[1].id, tasks[2].id);
  EXPECT_EQ(token->tasks[2].id, tasks[3].id);
  EXPECT_EQ(token->tasks[2].parent, 1);
  const auto kept = token->deviations.expanded(token->tasks);
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].task_index, 2);
  EXPECT_EQ(kept[0].value_index, 1);
}

TEST(Token, RefusesALogThatNamesNoTask) {
  auto tasks = family();
  std::vector<Deviation> deviations = {to_task(tasks, 0, 1, 1), to_task(tasks, 1, 1, 0)};
  deviations[1].value_index = 5;
  EXPECT_THAT(with_deviations({}, tasks, deviations).error(), HasSubstr("deviation 2"));
  deviations.pop_back();
  tasks[1].parent = 3;
  EXPECT_THAT(with_deviations({}, tasks, deviations).error(), HasSubstr("precedes its parent"));
}

TEST(Token, IgnoresWhiteSpaceAnywhere) {
  std::string spaced = " \n";
  for (const char character : format_token(abba()))
    spaced.append({character, ' ', '\r', '\n', '\t'});
  EXPECT_TRUE(looks_like_token(spaced.substr(0, 2) + "weft1.x"));
  const auto parsed = parse_token(spaced);
  ASSERT_TRUE(parsed) << parsed.error();
  EXPECT_EQ(*parsed, abba());
}

TEST(Token, RandomTokensReadBackAsWritten) {
  Prng random(20240607);
  for (int round = 0; round < 200; ++round) {
    std::vector<TaskRow> tasks = {{kRootTask, kNoTaskIndex, 0}};
    while (random.below(4) != 0) {
      const auto parent = static_cast<TaskIndex>(random.below(tasks.size()));
      const auto ordinal = static_cast<std::uint32_t>(random.below(1000));
      tasks.push_back({tasks[parent].id.child(ordinal), parent, ordinal});
    }
    std::vector<Deviation> deviations;
    std::vector<std::uint64_t> operations(tasks.size());
    while (random.below(20) != 0) {
      const auto at = static_cast<TaskIndex>(random.below(tasks.size()));
      const auto chosen = static_cast<TaskIndex>(random.below(tasks.size()));
      const std::uint64_t room = ~std::uint64_t{0} - operations[at];
      operations[at] += (random.next() >> random.below(64)) & room;
      operations[at] = std::max(operations[at], std::uint64_t{1});
      deviations.push_back(to_task(tasks, at, operations[at], chosen));
      Deviation& deviation = deviations.back();
      deviation.kind = static_cast<ChoiceKind>(random.below(4));
      deviation.nth = static_cast<std::uint16_t>(random.next() >> (48 + random.below(16)));
      if (!chooses_task(deviation.kind)) {
        deviation.value = random.next() >> random.below(64);
        deviation.value_index = kNoTaskIndex;
      }
    }
    const auto token = with_deviations({.scenario = "random"}, tasks, deviations);
    ASSERT_TRUE(token) << token.error();
    const auto parsed = parse_token(format_token(*token));
    ASSERT_TRUE(parsed) << parsed.error();
    EXPECT_EQ(*parsed, *token);
    // With the rows that no deviation names, the log is the same.
    const auto all = parsed->deviations.expanded(parsed->tasks);
    ASSERT_EQ(all.size(), deviations.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i].task, deviations[i].task);
      EXPECT_EQ(all[i].operation, deviations[i].operation);
      EXPECT_EQ(all[i].value, deviations[i].value);
      EXPECT_EQ(all[i].kind, deviations[i].kind);
      EXPECT_EQ(all[i].nth, deviations[i].nth);
      EXPECT_EQ(all[i].digest, deviations[i].digest);
    }
  }
}

TEST(Token, ATypicalDeviationTakesEightCharacters) {
  const auto tasks = family();
  std::vector<Deviation> deviations;
  for (std::uint64_t i = 1; i <= 100; ++i) deviations.push_back(to_task(tasks, 1, i * 50, 2));
  const auto few = with_deviations({}, tasks, std::span(deviations).first(50));
  const auto many = with_deviations({}, tasks, deviations);
  EXPECT_LE(format_token(*many).size() - format_token(*few).size(), 50 * 8u);
}

TEST(Token, EveryTruncationIsRefusedAsSuch) {
  const std::string text = format_token(abba());
  for (std::size_t size = kTokenPrefix.size(); size < text.size(); ++size) {
    EXPECT_THAT(error_of(text.substr(0, size)), HasSubstr("copy"));
  }
}

TEST(Token, EveryChangedCharacterIsRefused) {
  const std::string text = format_token(abba());
  for (std::size_t i = kTokenPrefix.size(); i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_THAT(error_of(changed), HasSubstr("bad token: "));
  }
}

TEST(Token, SaysWhichPartIsWrong) {
  EXPECT_EQ(error_of("hello"), "bad token: this is not a weft token, which starts with weft2.");
  EXPECT_EQ(error_of("weft3.AAAA"),
            "bad token: version weft3. is unknown to this weft, which reads weft1. and weft2.");
  EXPECT_EQ(error_of("weft2.AA+A"),
            "bad token: character 3 is '+', which no token contains; copy it again, whole");
  EXPECT_EQ(error_of("weft2.AA\x01"
                     "A"),
            "bad token: character 3 is byte 0x01, which no token contains; copy it again, "
            "whole");
  EXPECT_THAT(error_of("weft2."), HasSubstr("it ends too early: probably cut off in copying"));
  EXPECT_THAT(error_of(format_token(abba()) + "AAAA"), HasSubstr("goes on after its end"));

  std::string changed = format_token(abba());
  changed[20] = changed[20] == 'x' ? 'y' : 'x';
  EXPECT_THAT(error_of(changed), HasSubstr("its checksum is wrong"));

  // A length that says less than there is.
  std::string shortened = format_token(abba());
  shortened[trace::kTokenPrefix.size()] = 'A';
  EXPECT_THAT(error_of(shortened), HasSubstr("its checksum is wrong"));
}

TEST(Token, SaysWhichPartIsMalformed) {
  ByteWriter flags;
  flags.varint(8);
  EXPECT_THAT(error_of(framed(flags.bytes())), HasSubstr("flags: one is set"));

  EXPECT_THAT(error_of(framed(body_head().bytes())), HasSubstr("task table: the number"));

  ByteWriter orphan = body_head();
  orphan.varint(1);
  orphan.varint(1 << 1);  // one row up, of none
  orphan.varint(0);
  EXPECT_THAT(error_of(framed(orphan.bytes())), HasSubstr("task table: task 1 is malformed"));

  ByteWriter hostile = body_head();
  hostile.varint(0);
  hostile.varint(kMaxDeviations);
  EXPECT_THAT(error_of(framed(hostile.bytes())), HasSubstr("deviation 1 of 67108864: it is cut"));
  ByteWriter beyond = body_head();
  beyond.varint(0);
  beyond.varint(kMaxDeviations + 1);
  EXPECT_THAT(error_of(framed(beyond.bytes())), HasSubstr("deviations: their number"));

  ByteWriter second = body_head();
  second.varint(1);
  second.varint(0);  // the root
  second.varint(0);
  second.varint(2);
  for (const std::uint64_t task : {0, 1}) {
    second.varint(task << 7 | 3 << 1);  // in full
    second.varint(1);
    second.varint(0);
  }
  EXPECT_THAT(error_of(framed(second.bytes())),
              HasSubstr("deviation 2 of 2: it names a task that is not listed"));

  ByteWriter longer = body_head();
  longer.varint(0);
  longer.varint(0);
  EXPECT_TRUE(parse_token(framed(longer.bytes())));
  longer.fixed8(0);
  EXPECT_THAT(error_of(framed(longer.bytes())), HasSubstr("end: bytes follow"));
}

TEST(Token, TellsTokensFromFileNames) {
  EXPECT_TRUE(looks_like_token("weft1.AAAA"));
  EXPECT_TRUE(looks_like_token("  weft23.AAAA"));
  EXPECT_FALSE(looks_like_token("weft-findings/token.weft"));
  EXPECT_FALSE(looks_like_token("weft1"));
  EXPECT_FALSE(looks_like_token(""));
}

}  // namespace
}  // namespace weft::trace
