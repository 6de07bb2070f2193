// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/trace/token.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/check.h"
#include "harness/trace/base64url.h"
#include "harness/trace/bytes.h"
#include "harness/trace/checksum.h"

namespace weft::trace {
namespace {

constexpr std::uint64_t kFlagMemoryPoints = 1;
constexpr std::uint64_t kFlagIgnoresRaces = 2;
constexpr std::uint64_t kFlagIgnoresLeaks = 4;
constexpr std::uint64_t kKnownFlags = kFlagMemoryPoints | kFlagIgnoresRaces | kFlagIgnoresLeaks;
constexpr std::size_t kChecksumBytes = 4;

// Of version 1, a deviation's first number: task position, then these low bits.
constexpr unsigned kKindBits = 3;
constexpr std::uint64_t kKindMask = (1u << kKindBits) - 1;
constexpr std::uint64_t kHasNth = 1u << kKindBits;
constexpr unsigned kHeadBits = kKindBits + 1;
static_assert(static_cast<std::uint64_t>(ChoiceKind::kCount) <= kKindMask);

// Of version 1. Head, operation, value: a byte each at least; and the digest.
constexpr std::uint64_t kMaxOldDeviations = std::uint64_t{1} << 20;
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

// What is wrong with the deviation of version 1, or null. Its operation is the difference to that
// of the same task's previous one.
const char* read_old_deviation(ByteReader& in, std::span<const TaskRow> tasks,
                               std::vector<std::uint64_t>& previous, Deviation& deviation) {
  const std::uint64_t head = in.varint();
  const std::uint64_t kind = head & kKindMask;
  if (kind >= static_cast<std::uint64_t>(ChoiceKind::kCount)) return "its kind is unknown";
  deviation.kind = static_cast<ChoiceKind>(kind);
  const std::uint64_t task = head >> kHeadBits;
  if (task >= tasks.size()) return "it names a task that the token does not list";
  deviation.task_index = static_cast<TaskIndex>(task);
  deviation.task = tasks[task].id;
  const std::uint64_t distance = in.varint();
  deviation.operation = previous[task] += distance;
  if (deviation.operation < distance) return "its operation precedes the one before";
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

std::string read_old_deviations(ByteReader& in, Token& token) {
  const std::uint64_t count = in.count(kMaxOldDeviations, kMinDeviationBytes);
  if (!in.ok()) return "deviations: their number is malformed";
  std::vector<std::uint64_t> previous(token.tasks.size());
  for (std::uint64_t i = 0; i < count; ++i) {
    Deviation deviation;
    if (const char* why = read_old_deviation(in, token.tasks, previous, deviation)) {
      return fmt::format("deviation {} of {}: {}", i + 1, count, why);
    }
    token.deviations.push_back(deviation);
  }
  return in.at_end() ? "" : "end: bytes follow the last deviation";
}

std::string read_deviations(ByteReader& in, Token& token) {
  const std::uint64_t count = in.varint_up_to(kMaxDeviations);
  if (!in.ok()) return "deviations: their number is malformed";
  ChoiceReader log(in.raw(in.left()), token.tasks);
  Deviation deviation;
  while (token.deviations.size() < count && log.next(deviation)) {
    token.deviations.push_back(deviation);
  }
  if (log.error() != nullptr || token.deviations.size() < count) {
    return fmt::format("deviation {} of {}: {}", log.position() + 1, count,
                       log.error() != nullptr ? log.error() : "it is cut short");
  }
  return log.next(deviation) || log.error() != nullptr ? "end: bytes follow the last deviation"
                                                       : "";
}

Outcome<Token> read_body(std::string_view body, bool old) {
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

  const std::string wrong = old ? read_old_deviations(in, token) : read_deviations(in, token);
  if (!wrong.empty()) return Failure{wrong};
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

// The rows of a table that deviations need, and where they stand among themselves.
class NeededRows {
 public:
  explicit NeededRows(std::span<const TaskRow> table) : table_(table), needed_(table.size()) {}

  void add(const Deviation& deviation) {
    needed_[deviation.task_index] = true;
    if (chooses_task(deviation.kind)) needed_[deviation.value_index] = true;
  }

  // Empty, or what is wrong with the table.
  std::string take_into(std::vector<TaskRow>& rows) {
    for (std::size_t i = table_.size(); i-- > 0;) {
      if (!needed_[i] || table_[i].parent == kNoTaskIndex) continue;
      if (table_[i].parent >= i) return fmt::format("task {} precedes its parent", i);
      needed_[table_[i].parent] = true;
    }
    rows.clear();
    position_.assign(table_.size(), kNoTaskIndex);
    for (std::size_t i = 0; i < table_.size(); ++i) {
      if (!needed_[i]) continue;
      position_[i] = static_cast<TaskIndex>(rows.size());
      TaskRow& row = rows.emplace_back(table_[i]);
      if (row.parent != kNoTaskIndex) row.parent = position_[row.parent];
    }
    return {};
  }

  [[nodiscard]] Deviation moved(Deviation deviation) const {
    deviation.task_index = position_[deviation.task_index];
    if (chooses_task(deviation.kind)) deviation.value_index = position_[deviation.value_index];
    return deviation;
  }

 private:
  std::span<const TaskRow> table_;
  std::vector<bool> needed_;
  std::vector<TaskIndex> position_;
};

}  // namespace

Outcome<Token> with_deviations(Token token, std::span<const TaskRow> table,
                               std::span<const Deviation> deviations) {
  const auto listed = [&](TaskIndex index) { return index < table.size(); };
  NeededRows rows(table);
  for (std::size_t i = 0; i < deviations.size(); ++i) {
    const Deviation& deviation = deviations[i];
    if (!listed(deviation.task_index) || deviation.kind >= ChoiceKind::kCount ||
        (chooses_task(deviation.kind) && !listed(deviation.value_index))) {
      return Failure{fmt::format("deviation {} names no task of the execution", i + 1)};
    }
    rows.add(deviation);
  }
  if (const std::string wrong = rows.take_into(token.tasks); !wrong.empty()) return Failure{wrong};
  token.deviations = {};
  for (const Deviation& deviation : deviations) token.deviations.push_back(rows.moved(deviation));
  return token;
}

Outcome<Token> with_deviations(Token token, std::span<const TaskRow> table, std::string_view log) {
  NeededRows rows(table);
  Deviation deviation;
  ChoiceReader first(log, table);
  while (first.next(deviation)) rows.add(deviation);
  if (first.error() != nullptr) {
    return Failure{fmt::format("deviation {}: {}", first.position() + 1, first.error())};
  }
  if (const std::string wrong = rows.take_into(token.tasks); !wrong.empty()) return Failure{wrong};
  token.deviations = {};
  ChoiceReader second(log, table);
  while (second.next(deviation)) token.deviations.push_back(rows.moved(deviation));
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
  body.varint(token.deviations.size());
  body.raw(token.deviations.bytes());

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
  const bool old = prefix == kOldTokenPrefix;
  if (!old && prefix != kTokenPrefix) {
    return bad_token(fmt::format("version {} is unknown to this weft, which reads {} and {}",
                                 prefix, kOldTokenPrefix, kTokenPrefix));
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
  auto token = read_body(body, old);
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
