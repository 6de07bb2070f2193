// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A recorded execution with everything a report needs: no executable, no debug information and no
// process is consulted later, so an old trace renders on any machine with a new report. Its file is
// specified in docs/trace-format.md. Supervisor side.
//
// Invariants, which the reader checks and reports rely on:
//  1. A parent in `tasks` precedes its children.
//  2. Every TaskIndex below is kNoTaskIndex or an index into `tasks`.
//  3. Event::stack is kNoStack or an index into `stacks`; a stack has at most kMaxFrames frames.
//  4. `finding` has at most kMaxFindingTasks tasks, each with at most kMaxHeldLocks locks; its
//  texts
//     end with NUL.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/ids.h"
#include "harness/trace/choice.h"
#include "harness/trace/event.h"
#include "harness/trace/finding.h"

namespace weft::trace {

/// What was run, and how it came about.
struct Meta {
  std::string scenario = {};
  std::string token = {};     // text, as pasted
  std::string strategy = {};  // that found it; a replay needs only the token
  std::uint64_t seed = 0;
  std::uint64_t execution = 0;    // number of the execution that found it, from 1; 0: unknown
  std::uint64_t fingerprint = 0;  // of the build
  std::uint64_t final_digest = 0;
  std::uint64_t trace_hash = 0;
  bool memory_points = true;

  bool operator==(const Meta&) const = default;
};

struct Module {
  std::string path = {};
  std::uint64_t id = 0;    // hash of the basename, as in ObjectId::owner
  std::uint64_t base = 0;  // load bias in the recorded process

  bool operator==(const Module&) const = default;
};

/// One source-level frame; an address has several where calls were inlined.
struct Frame {
  std::string function = {};  // demangled, with parameters
  std::string file = {};
  std::uint32_t line = 0;  // 0: unknown

  bool operator==(const Frame&) const = default;
};

/// Events that a Trace holds at most: 7 MB, and more lines than anybody reads. A file holds all.
inline constexpr std::size_t kMaxEventsInMemory = std::size_t{1} << 16;

struct Trace {
  Meta meta;
  Finding finding;
  std::vector<std::pair<std::string, std::string>> host;  // facts worth knowing: "kernel", "cpu"
  std::vector<Module> modules;
  std::vector<TaskRow> tasks;
  std::map<Site, std::vector<Frame>> symbols;  // innermost inlined frame first
  std::map<ObjectId, std::string> names;       // of module variables: "counter", "cell+8"
  std::vector<Stack> stacks;
  std::uint64_t events_before = 0;   // recorded events that precede those in `events`
  std::vector<Event> events;         // of a long execution the last kMaxEventsInMemory
  std::uint64_t events_dropped = 0;  // steps after the last one recorded
  std::string output;                // the end of what the test wrote
};

/// All of a trace's events, from the first, those in Trace::events included. For whoever writes
/// them.
class EventSource {
 public:
  virtual ~EventSource() = default;
  virtual bool next(Event& event) = 0;
};

}  // namespace weft::trace
