// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/trace/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "harness/base/check.h"
#include "harness/trace/bytes.h"
#include "harness/trace/checksum.h"
#include "harness/trace/event_code.h"
#include "harness/trace/file_io.h"
#include "harness/trace/sections.h"

namespace weft::trace {
namespace {

constexpr std::string_view kMagic = "WEFTTRC\n";
constexpr std::size_t kNameBytes = 4;
// Empty and last, so that a file cut between two sections is noticed.
constexpr std::string_view kEnd = "END.";
constexpr std::string_view kEvents = "EVNT";
constexpr std::size_t kSectionHeadBytes = kNameBytes + 16;
// 400 million events of 40 bytes, and everything else.
constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 34;
// What is read whole, which is every section but that of the events.
constexpr std::uint64_t kMaxSectionBytes = std::uint64_t{1} << 30;
// At a time, of what is not.
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

std::string section_head(std::string_view name, std::uint64_t size, std::uint64_t sum) {
  ByteWriter head;
  head.raw(name);
  head.fixed64(size);
  head.fixed64(sum);
  return head.take();
}

void write_section(ByteWriter& out, std::string_view name, std::string_view payload) {
  out.raw(section_head(name, payload.size(), checksum(payload)));
  out.raw(payload);
}

std::string header() {
  ByteWriter out;
  out.raw(kMagic);
  out.fixed32(kTraceVersion);
  return out.take();
}

std::string payload_of(const Section& section, const Trace& trace) {
  ByteWriter payload;
  section.write(payload, trace);
  return payload.take();
}

// The section's head, which says how long it is, is written last.
void append_events(AtomicFile& file, const Trace& trace, EventSource& events) {
  const std::uint64_t head_at = file.size();
  file.append(section_head(kEvents, 0, 0));
  const std::uint64_t begin = file.size();
  RunningChecksum sum;
  ByteWriter piece;
  const auto flush = [&] {
    sum.add(piece.bytes());
    file.append(piece.bytes());
    (void)piece.take();
    piece = ByteWriter();
  };
  write_event_count(piece, trace);
  EventEncoder encoder;
  Event event;
  std::uint64_t left = trace.events_before + trace.events.size();
  for (; left != 0 && events.next(event); --left) {
    encoder.add(piece, event);
    if (piece.bytes().size() >= kPieceBytes) flush();
  }
  flush();
  WEFT_CHECK(left == 0, "a trace with more events than there are");
  file.overwrite(head_at, section_head(kEvents, file.size() - begin, sum.value()));
}

/// A trace file's bytes, wherever they are.
class Input {
 public:
  virtual ~Input() = default;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Fewer where it ends. Valid until the next call.
  virtual std::string_view at(std::uint64_t offset, std::size_t size) = 0;
};

class MemoryInput final : public Input {
 public:
  explicit MemoryInput(std::string_view bytes) : bytes_(bytes) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  std::string_view at(std::uint64_t offset, std::size_t size) override {
    return bytes_.substr(std::min<std::uint64_t>(offset, bytes_.size()), size);
  }

 private:
  std::string_view bytes_;
};

class FileInput final : public Input {
 public:
  [[nodiscard]] std::string open(const std::string& path) {
    return file_.open(path, kMaxFileBytes);
  }
  [[nodiscard]] std::uint64_t size() const override { return file_.size(); }
  std::string_view at(std::uint64_t offset, std::size_t size) override {
    const std::uint64_t left = file_.size() - std::min(offset, file_.size());
    piece_ = file_.read(offset, std::min<std::uint64_t>(size, left));
    return piece_;
  }

 private:
  InputFile file_;
  std::string piece_;
};

std::uint64_t checksum_of(Input& input, std::uint64_t offset, std::uint64_t size) {
  RunningChecksum sum;
  while (size != 0) {
    const std::string_view piece = input.at(offset, std::min<std::uint64_t>(size, kPieceBytes));
    if (piece.empty()) break;
    sum.add(piece);
    offset += piece.size();
    size -= piece.size();
  }
  return sum.value();
}

// False where the section is malformed.
bool read_events(Input& input, std::uint64_t offset, std::uint64_t size, Trace& trace) {
  std::string_view piece;
  ByteReader in(piece);
  // Makes sure that a whole event can be read, if there is one.
  const auto fill = [&] {
    if (in.left() >= kMaxEventBytes || in.left() == size) return;
    offset += piece.size() - in.left();
    piece = input.at(offset, std::min<std::uint64_t>(size, kPieceBytes));
    in = ByteReader(piece);
  };
  const auto took = [&](std::size_t before) { size -= before - in.left(); };

  fill();
  std::size_t before = in.left();
  trace.events_dropped = in.varint();
  const std::uint64_t count = in.varint_up_to(kMaxEvents);
  if (!in.ok()) return false;
  took(before);
  if (count > size / kMinEventBytes) return false;
  const std::uint64_t kept = std::min<std::uint64_t>(count, kMaxEventsInMemory);
  trace.events_before = count - kept;
  trace.events.reserve(kept);
  EventDecoder decoder;
  for (std::uint64_t i = 0; i < count; ++i) {
    fill();
    before = in.left();
    const Event event = decoder.next(in);
    if (!in.ok()) return false;
    took(before);
    if (i >= trace.events_before) trace.events.push_back(event);
  }
  return size == 0;
}

bool is_name(std::string_view name) {
  return name.size() == kNameBytes &&
         std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

Failure bad_trace(std::string_view why) { return Failure{fmt::format("bad trace: {}", why)}; }

Outcome<Trace> decode(Input& input) {
  std::uint64_t offset = 0;
  const auto take = [&](std::size_t size) {
    const std::string_view bytes = input.at(offset, size);
    offset += bytes.size();
    return bytes;
  };
  if (take(kMagic.size()) != kMagic) return bad_trace("this is not a weft trace");
  ByteReader version_in(take(4));
  const std::uint32_t version = version_in.fixed32();
  if (!version_in.ok()) return bad_trace("it is cut off in its header");
  if (version != kTraceVersion) {
    return bad_trace(fmt::format("version {} is unknown to this weft, which reads version {}",
                                 version, kTraceVersion));
  }

  Trace trace;
  bool seen[kSectionCount] = {};
  for (;;) {
    const std::string head(take(kSectionHeadBytes));
    ByteReader in(head);
    const std::string_view name = in.raw(kNameBytes);
    const std::uint64_t size = in.fixed64();
    const std::uint64_t sum = in.fixed64();
    if (!in.ok()) return bad_trace("it is cut off between two sections");
    if (!is_name(name)) return bad_trace("a section has no name: the file is damaged");
    if (size > input.size() - offset) return bad_trace(fmt::format("section {} is cut off", name));
    const std::uint64_t begin = std::exchange(offset, offset + size);
    if (checksum_of(input, begin, size) != sum) {
      return bad_trace(fmt::format("section {} is damaged: its checksum is wrong", name));
    }
    if (name == kEnd) break;
    const auto known = std::find_if(std::begin(kSections), std::end(kSections),
                                    [&](const Section& section) { return section.name == name; });
    if (known == std::end(kSections)) continue;
    bool& seen_before = seen[known - kSections];
    if (seen_before) return bad_trace(fmt::format("section {} occurs twice", name));
    seen_before = true;
    bool sound = false;
    if (known->read == nullptr) {
      sound = read_events(input, begin, size, trace);
    } else if (size <= kMaxSectionBytes) {
      ByteReader section(input.at(begin, size));
      known->read(section, trace);
      sound = section.at_end();
    }
    if (!sound) return bad_trace(fmt::format("section {} is malformed", name));
  }
  if (offset != input.size()) return bad_trace("bytes follow its end");
  for (std::size_t i = 0; i < kSectionCount; ++i) {
    if (kSections[i].required && !seen[i]) {
      return bad_trace(fmt::format("section {} is missing", kSections[i].name));
    }
  }
  const std::string broken = check_references(trace);
  if (!broken.empty()) return bad_trace(broken);
  return trace;
}

}  // namespace

std::string encode_trace(const Trace& trace) {
  WEFT_CHECK(trace.events_before == 0, "a trace whose first events are elsewhere");
  ByteWriter out;
  out.raw(header());
  for (const Section& section : kSections) {
    write_section(out, section.name, payload_of(section, trace));
  }
  write_section(out, kEnd, {});
  return out.take();
}

Outcome<Trace> decode_trace(std::string_view bytes) {
  MemoryInput input(bytes);
  return decode(input);
}

Outcome<std::string> write_trace(const std::string& path, const Trace& trace) {
  return write_file_atomically(path, encode_trace(trace));
}

Outcome<std::string> write_trace(const std::string& path, const Trace& trace, EventSource& events) {
  AtomicFile file(path);
  file.append(header());
  for (const Section& section : kSections) {
    if (section.name == kEvents) {
      append_events(file, trace, events);
      continue;
    }
    ByteWriter out;
    write_section(out, section.name, payload_of(section, trace));
    file.append(out.bytes());
  }
  file.append(section_head(kEnd, 0, checksum({})));
  return file.commit();
}

Outcome<Trace> read_trace(const std::string& path) {
  std::error_code ignored;
  std::filesystem::path file(path);
  if (std::filesystem::is_directory(file, ignored)) file /= kTraceFileName;
  FileInput input;
  if (std::string failure = input.open(file.string()); !failure.empty()) return Failure{failure};
  auto trace = decode(input);
  if (!trace) return Failure{fmt::format("{}: {}", file.string(), trace.error())};
  return trace;
}

}  // namespace weft::trace
