// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/strategies/replay_log.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "harness/trace/choice_code.h"

namespace weft::strategies {
namespace {

using trace::ChoiceKind;
using trace::Deviation;

// A choice is a varint of its distance to the one before and these bits, then what they say.
constexpr std::uint64_t kHasDigest = 1;
constexpr std::uint64_t kHasNth = 2;
constexpr std::uint64_t kHasValue = 4;  // it is another one than before
constexpr unsigned kHeadBits = 3;
// No execution comes there; a larger distance would not fit beside the bits.
constexpr std::uint64_t kNever = (std::uint64_t{1} << (64 - kHeadBits)) - 1;

std::uint64_t get_varint(const unsigned char*& in) noexcept {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const unsigned char byte = *in++;
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if ((byte & 0x80) == 0) return value;
  }
}

}  // namespace

void ReplayLog::Cursor::advance() noexcept {
  at_end = rest == end;
  if (at_end) return;
  const std::uint64_t head = get_varint(rest);
  operation += head >> kHeadBits;
  nth = (head & kHasNth) != 0 ? static_cast<std::uint16_t>(get_varint(rest)) : std::uint16_t{0};
  if ((head & kHasValue) != 0) value = get_varint(rest);
  has_digest = (head & kHasDigest) != 0;
  if (!has_digest) return;
  digest = static_cast<std::uint16_t>(rest[0] | rest[1] << 8);
  rest += 2;
}

class ReplayLog::Builder {
 public:
  explicit Builder(const std::set<TaskId>& tasks)
      : tasks(tasks.begin(), tasks.end()), streams_(tasks.size() * kChoiceKinds) {}

  void add(const Deviation& deviation) {
    Stream& stream =
        streams_[place(deviation.task) * kChoiceKinds + static_cast<std::size_t>(deviation.kind)];
    const std::uint64_t operation = std::min(deviation.operation, kNever);
    const std::uint64_t value =
        trace::chooses_task(deviation.kind) ? place(TaskId{deviation.value}) : deviation.value;
    const bool has_value = value != stream.value;
    unsigned char bytes[trace::kMaxChoiceBytes];
    unsigned char* end = trace::detail::put_varint(
        bytes, (operation - stream.operation) << kHeadBits | (has_value ? kHasValue : 0) |
                   (deviation.nth != 0 ? kHasNth : 0) | (deviation.has_digest ? kHasDigest : 0));
    if (deviation.nth != 0) end = trace::detail::put_varint(end, deviation.nth);
    if (has_value) end = trace::detail::put_varint(end, value);
    if (deviation.has_digest) {
      *end++ = static_cast<unsigned char>(deviation.digest);
      *end++ = static_cast<unsigned char>(deviation.digest >> 8);
    }
    stream.bytes.append(reinterpret_cast<const char*>(bytes),
                        static_cast<std::size_t>(end - bytes));
    stream.operation = operation;
    stream.value = value;
  }

  struct Stream {
    std::string bytes;
    std::uint64_t operation = 0;
    std::uint64_t value = 0;
  };
  [[nodiscard]] std::vector<Stream>& streams() { return streams_; }

  const std::vector<TaskId> tasks;

 private:
  [[nodiscard]] std::size_t place(TaskId task) const {
    return static_cast<std::size_t>(std::lower_bound(tasks.begin(), tasks.end(), task) -
                                    tasks.begin());
  }

  std::vector<Stream> streams_;
};

void ReplayLog::take(Builder& builder) {
  tasks_ = MappedArray<TaskId>(builder.tasks.size());
  std::copy(builder.tasks.begin(), builder.tasks.end(), tasks_.begin());
  std::size_t size = 0;
  for (const Builder::Stream& stream : builder.streams()) size += stream.bytes.size();
  bytes_ = MappedArray<unsigned char>(size);
  streams_ = MappedArray<Stream>(builder.streams().size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < builder.streams().size(); ++i) {
    std::string bytes = std::move(builder.streams()[i].bytes);
    std::copy(bytes.begin(), bytes.end(), bytes_.begin() + at);
    streams_.data()[i] = {at, at + bytes.size()};
    at += bytes.size();
  }
}

ReplayLog::ReplayLog(std::span<const Deviation> log) {
  std::vector<Deviation> sorted(log.begin(), log.end());
  std::sort(sorted.begin(), sorted.end(), [](const Deviation& a, const Deviation& b) {
    return std::tuple(a.task, a.operation, a.kind, a.nth) <
           std::tuple(b.task, b.operation, b.kind, b.nth);
  });
  std::set<TaskId> tasks;
  for (const Deviation& deviation : sorted) {
    tasks.insert(deviation.task);
    if (trace::chooses_task(deviation.kind)) tasks.insert(TaskId{deviation.value});
  }
  Builder builder(tasks);
  for (const Deviation& deviation : sorted) builder.add(deviation);
  take(builder);
}

ReplayLog::ReplayLog(const trace::DeviationLog& log, std::span<const trace::TaskRow> tasks) {
  std::set<TaskId> ids;
  for (const trace::TaskRow& row : tasks) ids.insert(row.id);
  Builder builder(ids);
  log.for_each(tasks, [&](const Deviation& deviation) { builder.add(deviation); });
  take(builder);
}

std::uint32_t ReplayLog::find(TaskId task) const noexcept {
  const TaskId* const place = std::lower_bound(tasks_.begin(), tasks_.end(), task);
  return place == tasks_.end() || *place != task
             ? kNobody
             : static_cast<std::uint32_t>(place - tasks_.begin());
}

ReplayLog::Cursor ReplayLog::begin(std::uint32_t task, ChoiceKind kind) const noexcept {
  const Stream& stream = streams_[task * kChoiceKinds + static_cast<std::size_t>(kind)];
  Cursor cursor;
  cursor.rest = bytes_.data() + stream.begin;
  cursor.end = bytes_.data() + stream.end;
  cursor.advance();
  return cursor;
}

}  // namespace weft::strategies
