// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Hand-made traces, one for each kind of finding, for the golden tests and the fuzzers' seeds. In a
// header, so that no library contains them.
#pragma once

#include <csignal>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>

#include "harness/base/check.h"
#include "harness/trace/trace.h"

namespace weft::reports {
namespace samples {

using trace::Event;
using trace::Finding;
using trace::FindingKind;
using trace::FindingTask;
using trace::OpKind;
using trace::TaskState;
using trace::Trace;

inline constexpr std::uint64_t kTestModule = 11;
inline constexpr TaskIndex kRoot = 0;
inline constexpr TaskIndex kTimer = 1;
inline constexpr TaskIndex kChild = 2;

constexpr ObjectId variable(std::uint64_t offset) {
  return {.owner = kTestModule, .offset = offset, .ordinal = 0, .space = ObjectSpace::kModule};
}
inline constexpr ObjectId kA = variable(0x4010);
inline constexpr ObjectId kB = variable(0x4038);
inline constexpr ObjectId kFlag = variable(0x4060);
inline constexpr ObjectId kCounter = {
    .owner = kRootTask.value, .offset = 8, .ordinal = 3, .space = ObjectSpace::kHeap};
constexpr ObjectId task_object(TaskId id) { return {id.value, 0, 0, ObjectSpace::kTask}; }

inline constexpr Site kSpawnSite = {0, 0x1010};
inline constexpr Site kJoinSite = {0, 0x1020};
inline constexpr Site kLockASite = {0, 0x1100};
inline constexpr Site kLockBSite = {0, 0x1110};
inline constexpr Site kCountSite = {0, 0x1120};
inline constexpr Site kFlagSite = {0, 0x1130};
inline constexpr Site kThreadSite = {0, 0x1200};
inline constexpr Site kInLibrary = {1, 0x9000};

inline constexpr std::string_view kSource = "/src/app/transfer.cc";

inline trace::Frame in_source(const char* function, std::uint32_t line) {
  return {.function = function, .file = std::string(kSource), .line = line};
}

inline void name_everything(Trace& trace) {
  trace.modules = {{.path = "/src/app/build/transfer_test", .id = kTestModule, .base = 0},
                   {.path = "/usr/lib/libc.so.6", .id = 12, .base = 0}};
  trace.names = {{kA, "A"}, {kB, "B"}, {kFlag, "ready"}};
  const trace::Frame lock = {.function = "std::mutex::lock()",
                             .file = "/usr/include/c++/12/bits/std_mutex.h",
                             .line = 100};
  trace.symbols = {
      {kSpawnSite, {in_source("main::{lambda()#1}::operator()() const", 40)}},
      {kJoinSite, {in_source("main::{lambda()#1}::operator()() const", 42)}},
      {kLockASite, {lock, in_source("transfer(Account&, Account&)", 20)}},
      {kLockBSite, {lock, in_source("transfer(Account&, Account&)", 21)}},
      {kCountSite,
       {in_source("Account::add(int)", 12), in_source("transfer(Account&, Account&)", 22)}},
      {kFlagSite, {in_source("void (anonymous namespace)::announce<std::atomic<bool> >(int)", 30)}},
      {kThreadSite,
       {{.function = "void std::__invoke_impl<void, main::{lambda()#2}>(std::__invoke_other)",
         .file = "/usr/include/c++/12/bits/invoke.h",
         .line = 61},
        in_source("main::{lambda()#2}::operator()() const", 40)}},
  };
}

inline trace::Stack stack(std::initializer_list<Site> sites) {
  trace::Stack result;
  for (const Site site : sites) result.frames[result.count++] = site;
  return result;
}

inline void record_steps(Trace& trace) {
  trace.stacks = {stack({kLockASite, kThreadSite, kInLibrary}), stack({kSpawnSite})};
  const auto step = [&](TaskIndex task, OpKind kind, ObjectId object, Site site) -> Event& {
    Event& event = trace.events.emplace_back();
    event.step = trace.events.size();
    event.task = task;
    event.kind = kind;
    event.object = object;
    event.site = site;
    event.enabled_count = 2;
    event.operation_index = event.step;
    return event;
  };
  step(kRoot, OpKind::kSpawn, {}, kSpawnSite).value = kChild;
  step(kRoot, OpKind::kMutexLock, kA, kLockASite);
  Event& begin = step(kChild, OpKind::kTaskBegin, task_object(trace.tasks[kChild].id), kThreadSite);
  begin.preempted = true;
  step(kChild, OpKind::kMutexLock, kB, kLockBSite).stack = 0;
  for (int i = 0; i < 3; ++i) {
    Event& spin = step(kChild, OpKind::kAtomicLoad, kFlag, kFlagSite);
    spin.width = 1;
    spin.order = 2;
  }
  Event& store = step(kRoot, OpKind::kAtomicStore, kFlag, kFlagSite);
  store.argument = 1;
  store.order = 3;
  store.preempted = true;
  Event& add = step(kRoot, OpKind::kAtomicFetchAdd, kCounter, kCountSite);
  add.value = 0xffffffff;
  add.argument = 1;
  add.width = 4;
  Event& exchange = step(kRoot, OpKind::kAtomicCompareExchange, kCounter, kCountSite);
  exchange.value = 0;
  exchange.argument = 0x7f0012345678;
  step(kRoot, OpKind::kMutexTryLock, kB, kLockBSite).value = 16;
  step(kTimer, OpKind::kTimerFire, {}, {}).time = 5'000'000;
  step(kRoot, OpKind::kPlainWrite, kCounter, kCountSite).width = 4;
  step(kRoot, OpKind::kJoin, task_object(trace.tasks[kChild].id), kJoinSite);
}

inline FindingTask& add_task(Finding& finding, TaskIndex index, TaskState state, OpKind operation,
                             ObjectId object) {
  FindingTask& task = finding.tasks[finding.task_count++];
  task.index = index;
  task.state = state;
  task.operation = operation;
  task.object = object;
  task.operation_index = 7;
  return task;
}

inline void say(Finding& finding, const char* message, const char* file = "", int line = 0) {
  std::strncpy(finding.message, message, sizeof finding.message - 1);
  std::strncpy(finding.file, file, sizeof finding.file - 1);
  finding.line = line;
}

inline void tell_deadlock(Finding& finding) {
  say(finding, "tasks wait for each other in a cycle");
  FindingTask& root = add_task(finding, kRoot, TaskState::kBlocked, OpKind::kMutexLock, kB);
  root.in_cycle = true;
  root.waits_for = kChild;
  root.held[root.held_count++] = {kA, kLockASite};
  root.stack = stack({kLockBSite, kSpawnSite, kInLibrary});
  FindingTask& child = add_task(finding, kChild, TaskState::kBlocked, OpKind::kMutexLock, kA);
  child.in_cycle = true;
  child.waits_for = kRoot;
  child.held[child.held_count++] = {kB, kLockBSite};
  child.stack = stack({kLockASite, kThreadSite, kInLibrary});
}

inline void tell_failure(Finding& finding, TaskId child) {
  add_task(finding, kRoot, TaskState::kBlocked, OpKind::kJoin, task_object(child)).stack =
      stack({kJoinSite});
  add_task(finding, kChild, TaskState::kRunnable, OpKind::kPlainWrite, kCounter).stack =
      stack({kInLibrary, kCountSite, kThreadSite, kInLibrary});
}

inline trace::FindingAccess& touch(Finding& finding, TaskIndex task, trace::AccessKind kind,
                                   std::uint64_t bytes) {
  finding.object = kCounter;
  trace::FindingAccess& access = finding.accesses[finding.access_count++];
  access.task = task;
  access.kind = kind;
  access.size = bytes;
  access.operation_index = 7;
  access.stack = stack({kCountSite, task == kRoot ? kSpawnSite : kThreadSite, kInLibrary});
  return access;
}

inline void tell(Finding& finding) {
  constexpr const char* kFile = kSource.data();
  switch (finding.kind) {
    case FindingKind::kNone: return;
    case FindingKind::kAssertion: return say(finding, "total == 200", kFile, 44);
    case FindingKind::kAbort: return say(finding, "abort() was called");
    case FindingKind::kAlways: return say(finding, "no money is lost", kFile, 45);
    case FindingKind::kInvariant: return say(finding, "balance >= 0");
    case FindingKind::kExpectation:
      say(finding, "Expected equality of these values: total, 200", kFile, 46);
      std::strcpy(finding.detail, "  total\n    Which is: 190\n  200");
      return;
    case FindingKind::kUncaughtException:
      return say(finding, "std::runtime_error: no such account");
    case FindingKind::kFatalSignal:
      finding.signal = SIGSEGV;
      finding.fault_address = 0x18;
      return say(finding, "fatal signal SEGV");
    case FindingKind::kDeadlock: return;  // told by tell_deadlock()
    case FindingKind::kStepCap:
      return say(
          finding,
          "the execution did not end within its step limit: a livelock, or raise --max-steps");
    case FindingKind::kProcessExit: return say(finding, "exit(3) was called");
    case FindingKind::kNondeterminism:
      return say(finding, "two runs of one schedule differ at step 9");
    case FindingKind::kHang:
      say(finding, "task 0.0 did not come back to the scheduler for 10 s");
      std::strcpy(finding.detail, "blocked in system call 0 (read)");
      return;
    case FindingKind::kUnsupported:
      return say(finding, "pthread_cancel is not controlled: end the thread by a flag");
    case FindingKind::kWorkerDied:
      return say(finding, "the worker was killed by signal 9 (out of memory?)");
    case FindingKind::kUserError:
      return say(finding, "weft::choose(0): there is nothing to choose from");
    case FindingKind::kDivergence:
      say(finding, "step 9 no longer matches the token");
      std::strcpy(finding.detail, "expected: task 0 lock A\nactual: task 0 lock B");
      return;
    case FindingKind::kDataRace:
      touch(finding, kChild, trace::AccessKind::kWrite, 4).held[0] = {kA, kLockASite};
      finding.accesses[0].held_count = 1;
      touch(finding, kRoot, trace::AccessKind::kRead, 4).held[0] = {kB, kLockBSite};
      finding.accesses[1].held_count = 1;
      touch(finding, kRoot, trace::AccessKind::kAllocate, 16);
      finding.weak_pair = {.object = kFlag,
                           .write = {.task = kRoot,
                                     .operation = OpKind::kAtomicStore,
                                     .order = 0,
                                     .suffices = false,
                                     .stack = stack({kFlagSite, kSpawnSite})},
                           .read = {.task = kChild,
                                    .operation = OpKind::kAtomicLoad,
                                    .order = 2,
                                    .suffices = true,
                                    .stack = stack({kFlagSite, kThreadSite})}};
      return say(finding,
                 "data race: a write of 4 bytes and an earlier read, which nothing orders");
    case FindingKind::kUseAfterFree:
      touch(finding, kChild, trace::AccessKind::kRead, 4);
      touch(finding, kRoot, trace::AccessKind::kFree, 16);
      touch(finding, kRoot, trace::AccessKind::kAllocate, 16);
      return say(finding, "use after free: a read of 4 bytes in a freed block of 16 bytes");
    case FindingKind::kDoubleFree:
      touch(finding, kChild, trace::AccessKind::kFree, 16);
      touch(finding, kRoot, trace::AccessKind::kFree, 16);
      touch(finding, kRoot, trace::AccessKind::kAllocate, 16);
      return say(finding, "double free of a block of 16 bytes");
    case FindingKind::kInvalidFree:
      touch(finding, kChild, trace::AccessKind::kFree, 0);
      return say(finding, "free of a pointer that malloc never returned");
    case FindingKind::kLostWakeup:
      finding.missed_wake = {.step = 8, .by = kRoot, .waiter = kChild};
      finding.object = kFlag;
      return say(finding, "a task waits for ever: the latest wake came when nobody waited");
    case FindingKind::kLivelock:
      return say(finding,
                 "every task that can run only looks, again and again, and nothing changes");
    case FindingKind::kLockMisuse:
      finding.object = kA;
      return say(finding, "an unlock of a mutex that another task holds");
    case FindingKind::kLeak:
      touch(finding, kRoot, trace::AccessKind::kAllocate, 16);
      return say(finding, "leak: nothing refers to a block of 16 bytes at the end");
    case FindingKind::kThreadLeak:
      finding.object = task_object(kRootTask.child(0));
      return say(finding, "a thread is neither joined nor detached at the end");
    case FindingKind::kMemoryError:
      return say(finding, "heap-use-after-free: reads 4 bytes at offset 8 of a block of 16");
    case FindingKind::kStarvation:
      finding.starved = {.waiter = kChild, .since = 4, .passed_over = 3, .most = 2};
      finding.object = kA;
      finding.task = kRoot;
      finding.tasks[0].state = TaskState::kRunnable;
      finding.tasks[1] = finding.tasks[0];
      finding.tasks[1].index = kChild;
      finding.tasks[1].state = TaskState::kBlocked;
      finding.tasks[1].operation = OpKind::kWriteLock;
      finding.tasks[1].object = kA;
      finding.tasks[1].stack = stack({kLockASite, kThreadSite, kInLibrary});
      return say(finding,
                 "a task that waits for a lock was passed over 3 times; weft::bounded_bypass "
                 "allows 2");
    case FindingKind::kCount: break;
  }
  WEFT_UNREACHABLE("a finding kind outside its enumeration");
}

}  // namespace samples

/// What the engine leaves behind for such a finding: two tasks that increment a counter under locks
/// A and B. Deterministic to the byte.
[[nodiscard]] inline trace::Trace sample_trace(trace::FindingKind kind) {
  using namespace samples;
  Trace trace;
  trace.meta = {.scenario = "app/transfer.buggy",
                .token = "weft1.sample",
                .strategy = "pct",
                .seed = 7,
                .execution = 1234,
                .fingerprint = 0xfeed,
                .final_digest = 0xd1,
                .trace_hash = 0xd2,
                .memory_points = true};
  trace.host = {{"kernel", "Linux 6.1"}};
  trace.tasks = {{kRootTask, kNoTaskIndex, 0},
                 {kRootTask.child(trace::kTimerOrdinal), 0, trace::kTimerOrdinal},
                 {kRootTask.child(0), 0, 0}};
  name_everything(trace);
  record_steps(trace);

  Finding& finding = trace.finding;
  finding.kind = kind;
  finding.task = kChild;
  finding.steps = trace.events.size();
  finding.preemptions = 2;
  if (kind == FindingKind::kDeadlock) {
    tell_deadlock(finding);
  } else {
    tell_failure(finding, trace.tasks[kChild].id);
    tell(finding);
  }
  trace.output = "transferring 10\ntransferring 30\x1b[31m\n";
  return trace;
}

}  // namespace weft::reports
