// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/trace/sections.h"

#include <fmt/format.h>

#include <string_view>
#include <unordered_map>

#include "harness/trace/channel.h"
#include "harness/trace/event_code.h"
#include "harness/trace/finding_sections.h"
#include "harness/trace/section_fields.h"

namespace weft::trace {
namespace {

constexpr std::uint64_t kMaxText = std::uint64_t{1}
                                   << 24;  // nothing printable is longer than 16 MiB
constexpr std::uint64_t kMaxToken = std::uint64_t{1} << 28;
constexpr std::uint64_t kMaxFacts = 1024;
constexpr std::uint64_t kMaxListedModules = 4096;
constexpr std::uint64_t kMaxInlineDepth = 1024;
constexpr std::uint64_t kMaxRecords = std::uint64_t{1} << 24;  // of symbols, of names

// The fewest bytes a record takes, as its writer below shows; see ByteReader::count().
constexpr std::uint64_t kMinFact = 2;
constexpr std::uint64_t kMinModule = 17;
constexpr std::uint64_t kMinTask = 10;
constexpr std::uint64_t kMinSymbol = 3;
constexpr std::uint64_t kMinFrame = 3;
constexpr std::uint64_t kMinName = 12;

void write_meta(ByteWriter& out, const Trace& trace) {
  const Meta& meta = trace.meta;
  out.string(meta.scenario);
  out.string(meta.token);
  out.string(meta.strategy);
  out.varint(meta.seed);
  out.varint(meta.execution);
  out.fixed64(meta.fingerprint);
  out.fixed64(meta.final_digest);
  out.fixed64(meta.trace_hash);
  out.varint(meta.memory_points ? 1 : 0);
}
void read_meta(ByteReader& in, Trace& trace) {
  Meta& meta = trace.meta;
  meta.scenario = in.string(kMaxText);
  meta.token = in.string(kMaxToken);
  meta.strategy = in.string(kMaxText);
  meta.seed = in.varint();
  meta.execution = in.varint();
  meta.fingerprint = in.fixed64();
  meta.final_digest = in.fixed64();
  meta.trace_hash = in.fixed64();
  meta.memory_points = in.varint_up_to(1) != 0;
}

void write_host(ByteWriter& out, const Trace& trace) {
  out.varint(trace.host.size());
  for (const auto& [key, value] : trace.host) {
    out.string(key);
    out.string(value);
  }
}
void read_host(ByteReader& in, Trace& trace) {
  trace.host.resize(in.count(kMaxFacts, kMinFact));
  for (auto& [key, value] : trace.host) {
    key = in.string(kMaxText);
    value = in.string(kMaxText);
  }
}

void write_modules(ByteWriter& out, const Trace& trace) {
  out.varint(trace.modules.size());
  for (const Module& module : trace.modules) {
    out.string(module.path);
    out.fixed64(module.id);
    out.fixed64(module.base);
  }
}
void read_modules(ByteReader& in, Trace& trace) {
  trace.modules.resize(in.count(kMaxListedModules, kMinModule));
  for (Module& module : trace.modules) {
    module.path = in.string(kMaxText);
    module.id = in.fixed64();
    module.base = in.fixed64();
  }
}

void write_tasks(ByteWriter& out, const Trace& trace) {
  out.varint(trace.tasks.size());
  for (const TaskRow& row : trace.tasks) {
    out.fixed64(row.id.value);
    write_index(out, row.parent, kNoTaskIndex);
    out.varint(row.ordinal);
  }
}
void read_tasks(ByteReader& in, Trace& trace) {
  trace.tasks.resize(in.count(kMaxTasks, kMinTask));
  for (TaskRow& row : trace.tasks) {
    row.id.value = in.fixed64();
    row.parent = read_index(in, kNoTaskIndex);
    row.ordinal = static_cast<std::uint32_t>(in.varint_up_to(UINT32_MAX));
  }
}

// The same few functions and files recur in every stack; each text is written once, where it first
// occurs, under the next free number.
class TextWriter {
 public:
  explicit TextWriter(ByteWriter& out) : out_(out) {}
  void write(const std::string& text) {
    const auto [entry, fresh] = numbers_.try_emplace(text, numbers_.size());
    out_.varint(entry->second);
    if (fresh) out_.string(text);
  }

 private:
  ByteWriter& out_;
  std::unordered_map<std::string_view, std::uint64_t> numbers_;
};
class TextReader {
 public:
  explicit TextReader(ByteReader& in) : in_(in) {}
  std::string read() {
    const std::uint64_t number = in_.varint_up_to(texts_.size());
    if (!in_.ok()) return {};
    if (number == texts_.size()) texts_.push_back(in_.string(kMaxText));
    // Copies of a long text could make a small file fill the memory.
    copied_ += texts_[number].size();
    if (copied_ > kMaxCopied) in_.fail();
    return in_.ok() ? std::string(texts_[number]) : std::string();
  }

 private:
  static constexpr std::uint64_t kMaxCopied = std::uint64_t{1} << 28;
  ByteReader& in_;
  std::vector<std::string_view> texts_;
  std::uint64_t copied_ = 0;
};

void write_symbols(ByteWriter& out, const Trace& trace) {
  TextWriter texts(out);
  out.varint(trace.symbols.size());
  for (const auto& [site, frames] : trace.symbols) {
    write_site(out, site);
    out.varint(frames.size());
    for (const Frame& frame : frames) {
      texts.write(frame.function);
      texts.write(frame.file);
      out.varint(frame.line);
    }
  }
}
void read_symbols(ByteReader& in, Trace& trace) {
  TextReader texts(in);
  for (std::uint64_t left = in.count(kMaxRecords, kMinSymbol); left != 0 && in.ok(); --left) {
    const Site site = read_site(in);
    std::vector<Frame> frames(in.count(kMaxInlineDepth, kMinFrame));
    for (Frame& frame : frames) {
      frame.function = texts.read();
      frame.file = texts.read();
      frame.line = static_cast<std::uint32_t>(in.varint_up_to(UINT32_MAX));
    }
    if (!trace.symbols.try_emplace(site, std::move(frames)).second) in.fail();
  }
}

void write_names(ByteWriter& out, const Trace& trace) {
  out.varint(trace.names.size());
  for (const auto& [object, name] : trace.names) {
    write_object(out, object);
    out.string(name);
  }
}
void read_names(ByteReader& in, Trace& trace) {
  for (std::uint64_t left = in.count(kMaxRecords, kMinName); left != 0 && in.ok(); --left) {
    const ObjectId object = read_object(in);
    if (!trace.names.try_emplace(object, in.string(kMaxText)).second) in.fail();
  }
}

void write_stacks(ByteWriter& out, const Trace& trace) {
  out.varint(trace.stacks.size());
  for (const Stack& stack : trace.stacks) write_stack(out, stack);
}
void read_stacks(ByteReader& in, Trace& trace) {
  // One byte is an empty stack, which takes 260 bytes in memory.
  trace.stacks.resize(in.count(kMaxStacks, 1));
  for (Stack& stack : trace.stacks) stack = read_stack(in);
}

void write_events(ByteWriter& out, const Trace& trace) {
  write_event_count(out, trace);
  EventEncoder encoder;
  for (const Event& event : trace.events) encoder.add(out, event);
}

void write_output(ByteWriter& out, const Trace& trace) { out.string(trace.output); }
void read_output(ByteReader& in, Trace& trace) { trace.output = in.string(kMaxText); }

}  // namespace

void write_event_count(ByteWriter& out, const Trace& trace) {
  out.varint(trace.events_dropped);
  out.varint(trace.events_before + trace.events.size());
}

const Section kSections[kSectionCount] = {
    {"META", true, write_meta, read_meta},
    {"FIND", true, write_finding, read_finding},
    {"ACCS", false, write_accesses, read_accesses},
    {"MISS", false, write_missed_wake, read_missed_wake},
    {"STRV", false, write_starved, read_starved},
    {"WEAK", false, write_weak_pair, read_weak_pair},
    {"HOST", false, write_host, read_host},
    {"MODS", false, write_modules, read_modules},
    {"TASK", true, write_tasks, read_tasks},
    {"SYMB", false, write_symbols, read_symbols},
    {"NAME", false, write_names, read_names},
    {"STCK", false, write_stacks, read_stacks},
    {"EVNT", false, write_events, nullptr},
    {"OUTP", false, write_output, read_output},
};

std::string check_references(const Trace& trace) {
  for (std::size_t i = 0; i < trace.tasks.size(); ++i) {
    const TaskIndex parent = trace.tasks[i].parent;
    if (parent != kNoTaskIndex && parent >= i) return fmt::format("task {} precedes its parent", i);
  }
  if (!names_tasks_of(trace)) return "the finding names no task of the trace";
  for (const Event& event : trace.events) {
    if (event.task != kNoTaskIndex && event.task >= trace.tasks.size()) {
      return fmt::format("step {} names no task of the trace", event.step);
    }
    if (event.stack != kNoStack && event.stack >= trace.stacks.size()) {
      return fmt::format("step {} names no stack of the trace", event.step);
    }
  }
  return {};
}

}  // namespace weft::trace
