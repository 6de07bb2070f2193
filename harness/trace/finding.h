// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A finding: what went wrong, as plain data that survives the death of the
// process that found it. The worker fills one in memory shared with its
// supervisor; names and source lines are resolved there.
#pragma once

#include <csignal>
#include <cstdint>

#include "harness/base/ids.h"
#include "harness/trace/operation.h"

namespace weft::trace {

/// Stored in traces and printed: append only.
enum class FindingKind : std::uint8_t {
  kNone,
  kAssertion,    // assert(3)
  kAbort,        // abort(3) by the subject
  kAlways,       // weft::always was false
  kInvariant,    // weft::invariant returned false or threw
  kExpectation,  // GoogleTest EXPECT_ or ASSERT_
  kUncaughtException,
  kFatalSignal,
  kDeadlock,
  kStepCap,         // the execution went on for more steps than allowed
  kProcessExit,     // the subject called exit or _exit
  kNondeterminism,  // two runs of one schedule differed
  kHang,            // a task did not come back to the engine in real time
  kUnsupported,     // the subject used something that is not controlled
  kWorkerDied,      // the worker vanished without a word (SIGKILL, out of memory)
  kUserError,       // the test misuses the api
  kDivergence,      // a replay no longer matches
  kDataRace,
  kUseAfterFree,
  kDoubleFree,
  kInvalidFree,  // of what malloc never returned
  kLostWakeup,   // a wait for ever, after the latest wake met nobody
  kLivelock,     // tasks run and nothing changes
  kLockMisuse,   // a lock, condition variable or thread used against its rules
  kLeak,         // a heap block that nothing refers to at the end
  kThreadLeak,   // a thread neither joined nor detached at the end
  kMemoryError,  // AddressSanitizer's report of what the subject touched
  kStarvation,   // passed over more often than weft::bounded_bypass allows
  kCount
};

/// Whether Finding::fault_address says something about a fatal signal.
[[nodiscard]] constexpr bool has_fault_address(int signal) noexcept {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE;
}

/// Machine name: "assertion", "deadlock", ...
[[nodiscard]] const char* name(FindingKind kind) noexcept;

inline constexpr int kMaxFrames = 32;
inline constexpr int kMaxFindingTasks = 64;
inline constexpr int kMaxHeldLocks = 8;
inline constexpr int kMaxFindingAccesses = 3;  // two that race, and the block's allocation

/// Innermost frame first. Sites lie inside their call instructions: return addresses less one.
struct Stack {
  std::uint32_t count = 0;
  Site frames[kMaxFrames] = {};
};

/// A lock and where it was taken.
struct HeldLock {
  ObjectId object;
  Site acquired_at = {};
};

/// How memory is touched. Stored in traces: append only.
enum class AccessKind : std::uint8_t {
  kRead,
  kWrite,
  kAtomicRead,
  kAtomicWrite,
  kFree,
  kAllocate,
};

/// "read", "atomic write", "free", ...
[[nodiscard]] const char* name(AccessKind kind) noexcept;

[[nodiscard]] constexpr bool is_atomic(AccessKind kind) noexcept {
  return kind == AccessKind::kAtomicRead || kind == AccessKind::kAtomicWrite;
}
[[nodiscard]] constexpr bool is_write(AccessKind kind) noexcept {
  return kind != AccessKind::kRead && kind != AccessKind::kAtomicRead;
}

/// One of the accesses that the finding is about.
struct FindingAccess {
  TaskIndex task = kNoTaskIndex;
  AccessKind kind = AccessKind::kRead;
  std::uint64_t size = 0;             // bytes
  std::uint64_t operation_index = 0;  // of the access itself
  std::uint32_t held_count = 0;
  HeldLock held[kMaxHeldLocks] = {};  // then
  Stack stack = {};                   // one frame only where the access was not replayed
};

/// A wake that met nobody, and the task that has waited for it since.
struct MissedWake {
  StepIndex step = 0;  // 0: none
  TaskIndex by = kNoTaskIndex;
  TaskIndex waiter = kNoTaskIndex;
};

/// An atomic operation that orders less than it might.
struct WeakSide {
  TaskIndex task = kNoTaskIndex;
  OpKind operation = OpKind::kNone;
  std::uint8_t order = 0;  // C11's number
  bool suffices = false;   // as a release, or as an acquire: then it is the other that must change
  Stack stack = {};
};

/// Why a race is one, where little is missing: after its access the earlier task wrote an atomic,
/// and before its own the later task read that value.
struct WeakPair {
  ObjectId object = {};
  WeakSide write = {};  // task: none where there is no such pair
  WeakSide read = {};
};

/// A task that waits for a lock, and what passed it over.
struct Starved {
  TaskIndex waiter = kNoTaskIndex;
  StepIndex since = 0;  // the step after which it began to wait
  std::uint64_t passed_over = 0;
  std::uint64_t most = 0;  // the bound
};

enum class TaskState : std::uint8_t { kRunnable, kBlocked, kEnded };

/// One task's part in the finding.
struct FindingTask {
  TaskIndex index = kNoTaskIndex;
  TaskState state = TaskState::kEnded;
  bool in_cycle = false;               // part of the deadlock's cycle
  OpKind operation = OpKind::kNone;    // pending
  ObjectId object = {};                // what the pending operation is about
  std::uint64_t operation_index = 0;   // how far the task had come
  TaskIndex waits_for = kNoTaskIndex;  // who holds what it waits for
  std::uint32_t held_count = 0;
  HeldLock held[kMaxHeldLocks] = {};
  Stack stack = {};
};

/// Fixed size, trivially copyable; `message` and `detail` are NUL-terminated.
struct Finding {
  FindingKind kind = FindingKind::kNone;
  TaskIndex task = kNoTaskIndex;  // whose step it was
  int signal = 0;                 // kFatalSignal
  StepIndex steps = 0;
  std::uint64_t preemptions = 0;     // switches away from an enabled task
  std::uintptr_t fault_address = 0;  // kFatalSignal, of a signal that has one
  char message[1024] = {};           // one line: the assertion's text, the exception's what()
  char file[256] = {};               // where the message comes from, if the subject said so
  int line = 0;
  char detail[2048] = {};      // further lines, already readable
  std::uint64_t identity = 0;  // of what an exploration may pass over; 0: nothing
  std::uint64_t place = 0;     // of a race: the object part of its identity
  ObjectId object = {};        // what the accesses touch
  std::uint32_t access_count = 0;
  FindingAccess accesses[kMaxFindingAccesses];  // the latest first
  MissedWake missed_wake = {};
  Starved starved = {};
  WeakPair weak_pair = {};  // of a data race that was replayed
  std::uint32_t task_count = 0;
  FindingTask tasks[kMaxFindingTasks];
};

}  // namespace weft::trace
