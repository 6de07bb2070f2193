// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/trace/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "harness/trace/bytes.h"
#include "harness/trace/checksum.h"
#include "harness/trace/file_io.h"
#include "harness/trace/sections.h"

namespace weft::trace {
namespace {

constexpr std::string_view kMagic = "WEFTTRC\n";
constexpr std::size_t kNameBytes = 4;
// Empty and last, so that a file cut between two sections is noticed.
constexpr std::string_view kEnd = "END.";
// 4 Mi events of some 100 bytes at most, and everything else.
constexpr std::size_t kMaxFileBytes = std::size_t{1} << 30;

void write_section(ByteWriter& out, std::string_view name, std::string_view payload) {
  out.raw(name);
  out.fixed64(payload.size());
  out.fixed64(checksum(payload));
  out.raw(payload);
}

bool is_name(std::string_view name) {
  return name.size() == kNameBytes &&
         std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

Failure bad_trace(std::string_view why) { return Failure{fmt::format("bad trace: {}", why)}; }

}  // namespace

std::string encode_trace(const Trace& trace) {
  ByteWriter out;
  out.raw(kMagic);
  out.fixed32(kTraceVersion);
  for (const Section& section : kSections) {
    ByteWriter payload;
    section.write(payload, trace);
    write_section(out, section.name, payload.bytes());
  }
  write_section(out, kEnd, {});
  return out.take();
}

Outcome<Trace> decode_trace(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.raw(kMagic.size()) != kMagic) return bad_trace("this is not a weft trace");
  const std::uint32_t version = in.fixed32();
  if (!in.ok()) return bad_trace("it is cut off in its header");
  if (version != kTraceVersion) {
    return bad_trace(fmt::format("version {} is unknown to this weft, which reads version {}",
                                 version, kTraceVersion));
  }

  Trace trace;
  bool seen[kSectionCount] = {};
  for (;;) {
    const std::string_view name = in.raw(kNameBytes);
    const std::uint64_t size = in.fixed64();
    const std::uint64_t sum = in.fixed64();
    if (!in.ok()) return bad_trace("it is cut off between two sections");
    if (!is_name(name)) return bad_trace("a section has no name: the file is damaged");
    const std::string_view payload = in.raw(size);
    if (!in.ok()) return bad_trace(fmt::format("section {} is cut off", name));
    if (checksum(payload) != sum) {
      return bad_trace(fmt::format("section {} is damaged: its checksum is wrong", name));
    }
    if (name == kEnd) break;
    const auto known = std::find_if(std::begin(kSections), std::end(kSections),
                                    [&](const Section& section) { return section.name == name; });
    if (known == std::end(kSections)) continue;
    bool& seen_before = seen[known - kSections];
    if (seen_before) return bad_trace(fmt::format("section {} occurs twice", name));
    seen_before = true;
    ByteReader section(payload);
    known->read(section, trace);
    if (!section.at_end()) return bad_trace(fmt::format("section {} is malformed", name));
  }
  if (in.left() != 0) return bad_trace("bytes follow its end");
  for (std::size_t i = 0; i < kSectionCount; ++i) {
    if (kSections[i].required && !seen[i]) {
      return bad_trace(fmt::format("section {} is missing", kSections[i].name));
    }
  }
  const std::string broken = check_references(trace);
  if (!broken.empty()) return bad_trace(broken);
  return trace;
}

Outcome<std::string> write_trace(const std::string& path, const Trace& trace) {
  return write_file_atomically(path, encode_trace(trace));
}

Outcome<Trace> read_trace(const std::string& path) {
  std::error_code ignored;
  std::filesystem::path file(path);
  if (std::filesystem::is_directory(file, ignored)) file /= kTraceFileName;
  const auto bytes = read_file(file.string(), kMaxFileBytes);
  if (!bytes) return Failure{bytes.error()};
  auto trace = decode_trace(*bytes);
  if (!trace) return Failure{fmt::format("{}: {}", file.string(), trace.error())};
  return trace;
}

}  // namespace weft::trace
