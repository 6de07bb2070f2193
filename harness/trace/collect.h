// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// From what a worker left behind to a token and a self-contained trace. Supervisor side, after the
// worker's end.
//
// The worker ran the subject, which may have overwritten anything that it could reach, the channel
// included: every count, index and text is taken with a pinch of salt.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/trace/channel.h"
#include "harness/trace/outcome.h"
#include "harness/trace/symbolizer.h"
#include "harness/trace/token.h"
#include "harness/trace/trace.h"

namespace weft::trace {

/// What only the supervisor knows.
struct RunFacts {
  std::string scenario = {};
  std::string strategy = {};
  std::uint64_t seed = 0;
  std::uint64_t execution = 0;  // from 1; 0: unknown, as in a replay
  std::uint64_t fingerprint = 0;
  std::uint64_t step_cap = 0;
  bool memory_points = true;
  bool races = true;
  bool leaks = true;
  std::string output = {};  // the end of what the test wrote
};

/// The replay token of the execution that the channel holds.
[[nodiscard]] Outcome<Token> collect_token(const Channel& channel, const RunFacts& facts);

/// Its deviations, as far as they can be read, with the channel's own task table as `tasks`.
struct CollectedChoices {
  std::vector<TaskRow> tasks = {};
  DeviationLog deviations = {};
};
[[nodiscard]] CollectedChoices collect_choices(const Channel& channel);

/// Its trace. Events are there after a recorded replay only, and of many only the last ones
/// (Trace::events_before says how many there are before); the rest always is. `token` is the
/// text to print, which a replay takes over from the original run.
[[nodiscard]] Trace collect_trace(const Channel& channel, const RunFacts& facts, std::string token,
                                  Symbolizer& symbolizer);

/// All events of that trace, for its file. `channel` and `trace` must outlive it.
class CollectedEvents final : public EventSource {
 public:
  CollectedEvents(const Channel& channel, const Trace& trace)
      : in_(channel.events), trace_(trace) {}
  bool next(Event& event) override;

 private:
  EventReader in_;
  const Trace& trace_;
};

}  // namespace weft::trace
