// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs schedules again under the genuine ThreadSanitizer: the same operations on
// real threads, in exactly the given order. Reads schedules from standard input
// and prints each with ThreadSanitizer's verdict in place of weft's.
//
// Not instrumented itself; operations.cc is.
//
// Exit status: 0, 2 for a line that is no schedule.

#include <pthread.h>

#include <atomic>
#include <deque>
#include <iostream>

#include "scenarios/race_agreement/baton.h"
#include "scenarios/race_agreement/operations.h"
#include "scenarios/race_agreement/schedule.h"

namespace race_agreement {
namespace {

/// The position whose operation is being performed; beyond them all between two schedules.
std::atomic<std::int32_t> performing;
std::atomic<std::int32_t> first_report;
constexpr std::int32_t kNone = 0x7fffffff;

struct Run {
  const Program& program;
  const std::vector<Executed>& order;
  Memory& memory;
  Baton baton;
  pthread_t handles[kThreads] = {};
  bool started[kThreads] = {};
};

struct Start {
  Run* run;
  std::size_t thread;
};

void run_thread(Run& run, std::size_t thread);

void* start_thread(void* argument) {
  const Start start = *static_cast<Start*>(argument);
  run_thread(*start.run, start.thread);
  return nullptr;
}

void run_thread(Run& run, std::size_t thread) {
  Start starts[kThreads];
  for (std::size_t i = 0; i < run.order.size(); ++i) {
    if (run.order[i].thread != thread) continue;
    const Op op = run.program.threads[thread][run.order[i].op];
    const auto position = static_cast<std::int32_t>(i);
    run.baton.await(position);
    performing = position;
    if (op.kind == OpKind::kSpawn) {
      starts[op.object] = {&run, op.object};
      pthread_create(&run.handles[op.object], nullptr, start_thread, &starts[op.object]);
      run.started[op.object] = true;
    } else if (op.kind == OpKind::kJoin) {
      pthread_join(run.handles[op.object], nullptr);
      run.started[op.object] = false;
    } else {
      (void)perform(run.memory, op);
    }
    run.baton.pass(position);
  }
  if (thread != 0) return;
  // Where the schedule ends in its race, others are still there.
  run.baton.await(static_cast<std::int32_t>(run.order.size()));
  performing = kNone;
  for (std::size_t child = 1; child < kThreads; ++child) {
    if (run.started[child]) pthread_join(run.handles[child], nullptr);
  }
}

int main() {
  // Never the same memory twice: what ThreadSanitizer knows of it would come along.
  std::deque<Memory> memories;
  for (std::string line; std::getline(std::cin, line);) {
    std::optional<Schedule> schedule = parse(line);
    if (!schedule) {
      std::cerr << "weft_race_agreement_tsan: not a schedule: " << line << "\n";
      return 2;
    }
    const Program program = generate(schedule->program);
    first_report = kNone;
    Run run{program, schedule->order, memories.emplace_back(), {}};
    run_thread(run, 0);
    schedule->race.reset();
    if (first_report != kNone) schedule->race = static_cast<std::size_t>(first_report.load());
    std::cout << format(*schedule) << "\n";
  }
  return 0;
}

}  // namespace
}  // namespace race_agreement

// ThreadSanitizer's own hooks.
extern "C" {
const char* __tsan_default_options() {
  // Every schedule is judged alone, whatever was reported before. Names are of no use here.
  return "suppress_equal_stacks=0:suppress_equal_addresses=0:symbolize=0:exitcode=0:"
         "report_thread_leaks=0:history_size=7";
}
void __tsan_on_report(void*) {
  using namespace race_agreement;
  if (performing != kNone && first_report == kNone) first_report = performing.load();
}
}

int main() { return race_agreement::main(); }
