// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "reports/schedule.h"

#include <map>
#include <tuple>
#include <utility>

#include "reports/frames.h"
#include "reports/wording.h"

namespace weft::reports {

std::vector<ScheduleLine> schedule_lines(const trace::Trace& trace, const std::string& root) {
  std::vector<ScheduleLine> lines;
  // Long schedules visit few places, and a stack takes a while to unfold.
  std::map<std::pair<Site, std::uint32_t>, std::pair<std::string, std::string>> places;
  TaskIndex previous = kNoTaskIndex;
  for (const trace::Event& event : trace.events) {
    const auto [known, fresh] = places.try_emplace({event.site, event.stack});
    if (fresh) {
      if (const auto frame = user_frame(trace, event)) {
        known->second = {place(*frame, root), frame->function};
      }
    }
    ScheduleLine line{.first = event.step,
                      .last = event.step,
                      .task = event.task,
                      .switched = event.task != previous,
                      .preempted = event.preempted,
                      .what = describe_step(trace, event),
                      .where = known->second.first,
                      .function = known->second.second};
    previous = event.task;
    const bool repeats =
        !lines.empty() && !line.switched && !line.preempted &&
        std::tie(lines.back().what, lines.back().where) == std::tie(line.what, line.where);
    if (repeats) {
      lines.back().last = line.last;
    } else {
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

}  // namespace weft::reports
