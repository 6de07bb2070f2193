// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/trace/token.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/check.h"
#include "harness/trace/base64url.h"
#include "harness/trace/bytes.h"
#include "harness/trace/channel.h"
#include "harness/trace/checksum.h"

namespace weft::trace {
namespace {

constexpr std::uint64_t kFlagMemoryPoints = 1;
constexpr std::uint64_t kFlagIgnoresRaces = 2;
constexpr std::uint64_t kFlagIgnoresLeaks = 4;
constexpr std::uint64_t kKnownFlags = kFlagMemoryPoints | kFlagIgnoresRaces | kFlagIgnoresLeaks;
constexpr std::size_t kChecksumBytes = 4;

// A deviation's first number: task position, then these low bits.
constexpr unsigned kKindBits = 3;
constexpr std::uint64_t kKindMask = (1u << kKindBits) - 1;
constexpr std::uint64_t kHasNth = 1u << kKindBits;
constexpr unsigned kHeadBits = kKindBits + 1;
static_assert(static_cast<std::uint64_t>(ChoiceKind::kCount) <= kKindMask);

// Head, operation, value: a byte each at least; and the digest.
constexpr std::uint64_t kMinDeviationBytes = 5;
constexpr std::uint64_t kMinTaskBytes = 2;

std::uint32_t short_checksum(std::string_view bytes) noexcept {
  return static_cast<std::uint32_t>(checksum(bytes));
}

// The id that a row's place in the tree gives it; anything else is spelled out in the token.
TaskId id_by_path(const TaskRow& row, std::span<const TaskRow> rows_before) noexcept {
  if (row.parent != kNoTaskIndex) return rows_before[row.parent].id.child(row.ordinal);
  return row.ordinal == 0 ? kRootTask : kNoTask;
}

void write_tasks(ByteWriter& out, std::span<const TaskRow> tasks) {
  out.varint(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const TaskRow& row = tasks[i];
    WEFT_CHECK(row.parent == kNoTaskIndex || row.parent < i, "a task precedes its parent");
    const std::uint64_t up = row.parent == kNoTaskIndex ? 0 : i - row.parent;
    const bool spelled_out = row.id != id_by_path(row, tasks.first(i));
    out.varint(up << 1 | (spelled_out ? 1 : 0));
    out.varint(row.ordinal);
    if (spelled_out) out.fixed64(row.id.value);
  }
}

Outcome<std::vector<TaskRow>> read_tasks(ByteReader& in) {
  const std::uint64_t count = in.count(kMaxTasks, kMinTaskBytes);
  if (!in.ok()) return Failure{"the number of tasks is malformed"};
  std::vector<TaskRow> tasks;
  tasks.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    TaskRow row;
    const std::uint64_t head = in.varint();
    const std::uint64_t up = head >> 1;
    row.ordinal = static_cast<std::uint32_t>(in.varint_up_to(UINT32_MAX));
    if (!in.ok() || up > i) return Failure{fmt::format("task {} is malformed", i + 1)};
    if (up != 0) row.parent = static_cast<TaskIndex>(i - up);
    row.id = id_by_path(row, tasks);
    if ((head & 1) != 0) {
      const TaskId spelled_out{in.fixed64()};
      if (!in.ok() || spelled_out == row.id) {
        return Failure{fmt::format("task {} is malformed", i + 1)};
      }
      row.id = spelled_out;
    }
    tasks.push_back(row);
  }
  return tasks;
}

// Operation indices are written as differences to the same task's previous deviation, modulo 2^64:
// they only grow within an execution, so the differences are small, and any other order still reads
// back as it was.
void write_deviations(ByteWriter& out, const Token& token) {
  out.varint(token.deviations.size());
  std::vector<std::uint64_t> previous(token.tasks.size());
  for (const Deviation& deviation : token.deviations) {
    WEFT_CHECK(deviation.task_index < token.tasks.size(), "a deviation of no task");
    out.varint(std::uint64_t{deviation.task_index} << kHeadBits |
               (deviation.nth != 0 ? kHasNth : 0) | static_cast<std::uint64_t>(deviation.kind));
    out.varint(deviation.operation -
               std::exchange(previous[deviation.task_index], deviation.operation));
    if (deviation.nth != 0) out.varint(deviation.nth);
    if (chooses_task(deviation.kind)) {
      WEFT_CHECK(deviation.value_index < token.tasks.size(), "a deviation towards no task");
      out.varint(deviation.value_index);
    } else {
      out.varint(deviation.value);
    }
    out.fixed16(deviation.digest);
  }
}

// What is wrong with the deviation, or null.
const char* read_deviation(ByteReader& in, std::span<const TaskRow> tasks,
                           std::vector<std::uint64_t>& previous, Deviation& deviation) {
  const std::uint64_t head = in.varint();
  const std::uint64_t kind = head & kKindMask;
  if (kind >= static_cast<std::uint64_t>(ChoiceKind::kCount)) return "its kind is unknown";
  deviation.kind = static_cast<ChoiceKind>(kind);
  const std::uint64_t task = head >> kHeadBits;
  if (task >= tasks.size()) return "it names a task that the token does not list";
  deviation.task_index = static_cast<TaskIndex>(task);
  deviation.task = tasks[task].id;
  deviation.operation = previous[task] += in.varint();
  if ((head & kHasNth) != 0) {
    deviation.nth = static_cast<std::uint16_t>(in.varint_up_to(UINT16_MAX));
    if (deviation.nth == 0) return "its ordinal is malformed";
  }
  deviation.value = in.varint();
  if (chooses_task(deviation.kind)) {
    if (deviation.value >= tasks.size()) return "it chooses a task that the token does not list";
    deviation.value_index = static_cast<TaskIndex>(deviation.value);
    deviation.value = tasks[deviation.value_index].id.value;
  }
  deviation.digest = in.fixed16();
  return in.ok() ? nullptr : "it is cut short";
}

Outcome<Token> read_body(std::string_view body) {
  ByteReader in(body);
  Token token;
  const std::uint64_t flags = in.varint();
  if (!in.ok() || (flags & ~kKnownFlags) != 0) {
    return Failure{"flags: one is set that this weft does not know"};
  }
  token.memory_points = (flags & kFlagMemoryPoints) != 0;
  token.races = (flags & kFlagIgnoresRaces) == 0;
  token.leaks = (flags & kFlagIgnoresLeaks) == 0;
  token.fingerprint = in.fixed64();
  token.scenario = in.string(kMaxScenarioName);
  if (!in.ok()) return Failure{"scenario name: it is cut short"};
  token.step_cap = in.varint();
  const std::uint64_t finding = in.varint();
  token.steps = in.varint();
  token.final_digest = in.fixed64();
  if (!in.ok()) return Failure{"expected finding: it is cut short"};
  if (finding >= static_cast<std::uint64_t>(FindingKind::kCount)) {
    return Failure{fmt::format("expected finding: kind {} is unknown to this weft", finding)};
  }
  token.finding = static_cast<FindingKind>(finding);

  auto tasks = read_tasks(in);
  if (!tasks) return Failure{fmt::format("task table: {}", tasks.error())};
  token.tasks = std::move(*tasks);

  const std::uint64_t count = in.count(kMaxDeviations, kMinDeviationBytes);
  if (!in.ok()) return Failure{"deviations: their number is malformed"};
  token.deviations.resize(count);
  std::vector<std::uint64_t> previous(token.tasks.size());
  for (std::uint64_t i = 0; i < count; ++i) {
    if (const char* why = read_deviation(in, token.tasks, previous, token.deviations[i])) {
      return Failure{fmt::format("deviation {} of {}: {}", i + 1, count, why)};
    }
  }
  if (!in.at_end()) return Failure{"end: bytes follow the last deviation"};
  return token;
}

bool is_space(char character) noexcept {
  return character == ' ' || (character >= '\t' && character <= '\r');
}

std::string without_space(std::string_view text) {
  std::string result;
  std::copy_if(text.begin(), text.end(), std::back_inserter(result),
               [](char c) { return !is_space(c); });
  return result;
}

// "weft12." -> "weft12."; empty where the text does not start like a token.
std::string_view version_prefix(std::string_view text) noexcept {
  constexpr std::string_view kName = "weft";
  constexpr std::size_t kMaxDigits = 9;
  if (!text.starts_with(kName)) return {};
  std::size_t end = kName.size();
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  const std::size_t digits = end - kName.size();
  if (digits == 0 || digits > kMaxDigits || end == text.size() || text[end] != '.') return {};
  return text.substr(0, end + 1);
}

Failure bad_token(std::string_view why) { return Failure{fmt::format("bad token: {}", why)}; }

}  // namespace

Outcome<Token> with_deviations(Token token, std::span<const TaskRow> table,
                               std::span<const Deviation> deviations) {
  const auto listed = [&](TaskIndex index) { return index < table.size(); };
  std::vector<bool> needed(table.size());
  for (std::size_t i = 0; i < deviations.size(); ++i) {
    const Deviation& deviation = deviations[i];
    const bool to_task = chooses_task(deviation.kind);
    if (!listed(deviation.task_index) || (to_task && !listed(deviation.value_index)) ||
        deviation.kind >= ChoiceKind::kCount) {
      return Failure{fmt::format("deviation {} names no task of the execution", i + 1)};
    }
    needed[deviation.task_index] = true;
    if (to_task) needed[deviation.value_index] = true;
  }
  for (std::size_t i = table.size(); i-- > 0;) {
    if (!needed[i] || table[i].parent == kNoTaskIndex) continue;
    if (table[i].parent >= i) return Failure{fmt::format("task {} precedes its parent", i)};
    needed[table[i].parent] = true;
  }

  token.tasks.clear();
  std::vector<TaskIndex> position(table.size(), kNoTaskIndex);
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (!needed[i]) continue;
    position[i] = static_cast<TaskIndex>(token.tasks.size());
    token.tasks.push_back(table[i]);
    TaskRow& row = token.tasks.back();
    if (row.parent != kNoTaskIndex) row.parent = position[row.parent];
  }
  token.deviations.assign(deviations.begin(), deviations.end());
  for (Deviation& deviation : token.deviations) {
    deviation.task_index = position[deviation.task_index];
    deviation.task = token.tasks[deviation.task_index].id;
    if (chooses_task(deviation.kind)) {
      deviation.value_index = position[deviation.value_index];
      deviation.value = token.tasks[deviation.value_index].id.value;
    } else {
      deviation.value_index = kNoTaskIndex;
    }
  }
  return token;
}

std::string format_token(const Token& token) {
  ByteWriter body;
  body.varint((token.memory_points ? kFlagMemoryPoints : 0) |
              (token.races ? 0 : kFlagIgnoresRaces) | (token.leaks ? 0 : kFlagIgnoresLeaks));
  body.fixed64(token.fingerprint);
  body.string(token.scenario);
  body.varint(token.step_cap);
  body.varint(static_cast<std::uint64_t>(token.finding));
  body.varint(token.steps);
  body.fixed64(token.final_digest);
  write_tasks(body, token.tasks);
  write_deviations(body, token);

  ByteWriter framed;
  framed.varint(body.bytes().size());
  framed.raw(body.bytes());
  framed.fixed32(short_checksum(framed.bytes()));
  return std::string(kTokenPrefix) + encode_base64url(framed.bytes());
}

Outcome<Token> parse_token(std::string_view text) {
  const std::string word = without_space(text);
  const std::string_view prefix = version_prefix(word);
  if (prefix.empty()) {
    return bad_token(fmt::format("this is not a weft token, which starts with {}", kTokenPrefix));
  }
  if (prefix != kTokenPrefix) {
    return bad_token(
        fmt::format("version {} is unknown to this weft, which reads {}", prefix, kTokenPrefix));
  }
  const auto framed = decode_base64url(std::string_view(word).substr(prefix.size()));
  if (!framed) return bad_token(framed.error() + "; copy it again, whole");

  ByteReader in(*framed);
  const std::uint64_t size = in.varint();
  if (!in.ok() || in.left() < kChecksumBytes || in.left() - kChecksumBytes < size) {
    return bad_token("it ends too early: probably cut off in copying; copy it again, whole");
  }
  // Up to the stated end: what is behind it does not make what is before it wrong.
  const std::string_view body = in.raw(size);
  const std::string_view checked(framed->data(), framed->size() - in.left());
  if (in.fixed32() != short_checksum(checked)) {
    return bad_token("its checksum is wrong: a character was changed or lost in copying");
  }
  if (!in.at_end()) {
    return bad_token("it goes on after its end: something was pasted behind it");
  }
  auto token = read_body(body);
  if (!token) return bad_token(token.error());
  return token;
}

bool looks_like_token(std::string_view text) noexcept {
  // Space may be anywhere, and the prefix is short.
  char first[32];
  std::size_t size = 0;
  for (const char c : text) {
    if (size == sizeof first) break;
    if (!is_space(c)) first[size++] = c;
  }
  return !version_prefix({first, size}).empty();
}

}  // namespace weft::trace
