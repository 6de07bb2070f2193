// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "scenarios/race_agreement/schedule.h"

#include <sstream>

namespace race_agreement {

std::string format(const Schedule& schedule) {
  std::ostringstream line;
  line << schedule.program << ' ' << schedule.seed << ' ';
  if (schedule.race) {
    line << *schedule.race;
  } else {
    line << "none";
  }
  for (const Executed executed : schedule.order) {
    line << ' ' << executed.thread << ':' << executed.op;
  }
  return line.str();
}

std::optional<Schedule> parse(const std::string& line) {
  std::istringstream words(line);
  Schedule schedule;
  std::string race;
  if (!(words >> schedule.program >> schedule.seed >> race)) return std::nullopt;
  const Program program = generate(schedule.program);
  Executed executed;
  char colon = 0;
  while (words >> executed.thread >> colon >> executed.op) {
    if (colon != ':' || executed.thread >= program.threads.size() ||
        executed.op >= program.threads[executed.thread].size())
      return std::nullopt;
    schedule.order.push_back(executed);
  }
  if (!words.eof()) return std::nullopt;
  if (race != "none") {
    if (race.empty() || race.find_first_not_of("0123456789") != std::string::npos ||
        race.size() > 6)
      return std::nullopt;
    schedule.race = std::stoul(race);
    if (*schedule.race >= schedule.order.size()) return std::nullopt;
  }
  return schedule;
}

std::string describe(const Program& program, Executed executed) {
  constexpr const char* kKinds[] = {
      "read",  "write", "load",   "store", "exchange", "fetch_add", "compare_exchange",
      "fence", "lock",  "unlock", "spawn", "join"};
  constexpr const char* kOrders[] = {"relaxed", "consume", "acquire",
                                     "release", "acq_rel", "seq_cst"};
  const Op& op = program.threads[executed.thread][executed.op];
  std::string text =
      "thread " + std::to_string(executed.thread) + " " + kKinds[static_cast<std::size_t>(op.kind)];
  if (op.kind != OpKind::kFence) text += " " + std::to_string(op.object);
  if (op.kind >= OpKind::kLoad && op.kind <= OpKind::kFence) {
    text += std::string(" ") + kOrders[static_cast<std::size_t>(op.order)];
  }
  return text;
}

}  // namespace race_agreement
