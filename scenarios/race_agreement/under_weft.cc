// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs generated programs under weft, one seed after the other, and prints each
// schedule with weft's verdict.
//
//   weft_race_agreement DIRECTORY PROGRAMS SCHEDULES    DIRECTORY takes what explorations leave
//   behind
//
// Exit status: 0, 2 for a bad argument, 3 where an exploration failed.

#include <pthread.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include <weft/weft.h>

#include "scenarios/race_agreement/operations.h"
#include "scenarios/race_agreement/schedule.h"

namespace race_agreement {
namespace {

/// Shared with the worker, which is another process: the order so far, and what each thread is at.
struct Log {
  static constexpr std::size_t kMost = 512;
  std::size_t count;
  Executed order[kMost];
  std::uint16_t at[kThreads];

  void begins(Executed executed) { at[executed.thread] = executed.op; }
  // Nothing can come between an operation and this: the next schedule point is the next operation.
  void executed(Executed executed) {
    if (count < kMost) order[count++] = executed;
  }
};

Log* the_log;
const Program* the_program;
Memory the_memory;  // the same at the beginning of each execution, like any global

void run_thread(std::uint16_t thread);

void* start_thread(void* thread) {
  run_thread(static_cast<std::uint16_t>(reinterpret_cast<std::uintptr_t>(thread)));
  return nullptr;
}

void run_thread(std::uint16_t thread) {
  static pthread_t handles[kThreads];
  const std::vector<Op>& ops = the_program->threads[thread];
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const Op& op = ops[i];
    const Executed executed{thread, static_cast<std::uint16_t>(i)};
    the_log->begins(executed);
    int seen = 1;
    if (op.kind == OpKind::kSpawn) {
      pthread_create(&handles[op.object], nullptr, start_thread,
                     reinterpret_cast<void*>(std::uintptr_t{op.object}));
    } else if (op.kind == OpKind::kJoin) {
      pthread_join(handles[op.object], nullptr);
    } else {
      seen = perform(the_memory, op);
    }
    the_log->executed(executed);
    if (op.kind == OpKind::kLoad && seen == 0) i += op.skip;
  }
}

/// The thread of the later access: the report's first ", by task 0.N".
std::size_t racing_thread(const std::string& report) {
  const std::string before = ", by task 0";
  const std::size_t at = report.find(before);
  if (at == std::string::npos) return kThreads;
  const std::string rest = report.substr(at + before.size(), 2);
  if (!rest.starts_with('.')) return 0;
  return static_cast<std::size_t>(rest[1] - '0') + 1;
}

[[noreturn]] void give_up(const Schedule& schedule, const std::string& why) {
  std::fprintf(stderr, "weft_race_agreement: program %llu, seed %llu: %s\n",
               static_cast<unsigned long long>(schedule.program),
               static_cast<unsigned long long>(schedule.seed), why.c_str());
  std::exit(3);
}

Schedule explore_once(std::uint64_t program, std::uint64_t seed, const std::string& directory) {
  constexpr const char* kStrategies[] = {"random", "pos", "pct"};
  Schedule schedule{.program = program, .seed = seed};
  const weft::Result result = weft::explore({.name = "race_agreement",
                                             .schedules = 1,
                                             .strategy = kStrategies[seed % 3],
                                             .seed = seed,
                                             .out = directory},
                                            [] {
                                              the_log->count = 0;
                                              run_thread(0);
                                            });
  const std::string error = result.error + result.internal_error;
  if (!error.empty()) give_up(schedule, error);
  if (the_log->count == Log::kMost) give_up(schedule, "the log is full");
  schedule.order.assign(the_log->order, the_log->order + the_log->count);
  if (result.findings.empty()) return schedule;
  const weft::FoundBug& bug = result.findings.front();
  const std::size_t thread = racing_thread(bug.text);
  if (bug.kind != "data_race" || thread >= kThreads) give_up(schedule, bug.text);
  // An execution ends in its race, before the operation is noted.
  schedule.race = schedule.order.size();
  schedule.order.push_back({static_cast<std::uint16_t>(thread), the_log->at[thread]});
  return schedule;
}

int main(const std::string& directory, std::uint64_t programs, std::uint64_t schedules) {
  void* const shared =
      ::mmap(nullptr, sizeof(Log), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return std::perror("weft_race_agreement"), 3;
  the_log = static_cast<Log*>(shared);
  for (std::uint64_t number = 0; number < programs; ++number) {
    const Program program = generate(number);
    the_program = &program;
    for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
      std::puts(format(explore_once(number, seed, directory)).c_str());
    }
  }
  return 0;
}

}  // namespace
}  // namespace race_agreement

int main(int argc, char** argv) {
  const long programs = argc == 4 ? std::strtol(argv[2], nullptr, 10) : 0;
  const long schedules = argc == 4 ? std::strtol(argv[3], nullptr, 10) : 0;
  if (programs <= 0 || schedules <= 0) {
    std::fprintf(stderr, "usage: weft_race_agreement DIRECTORY PROGRAMS SCHEDULES\n");
    return 2;
  }
  return race_agreement::main(argv[1], static_cast<std::uint64_t>(programs),
                              static_cast<std::uint64_t>(schedules));
}
