// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "reports/wording.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <iterator>

#include "harness/base/check.h"
#include "harness/trace/describe.h"

namespace weft::reports {
namespace {

using trace::Event;
using trace::FindingKind;
using trace::OpKind;
using trace::Trace;

// Numbers that people count with in decimal, addresses and patterns in hexadecimal.
std::string word(std::uint64_t value) {
  constexpr std::uint64_t kLargestCount = 1'000'000;
  return value <= kLargestCount ? fmt::format("{}", value) : fmt::format("0x{:x}", value);
}

std::uint64_t cut_to(std::uint64_t value, std::uint8_t width_bytes) {
  return width_bytes == 0 || width_bytes >= 8 ? value
                                              : value & ((std::uint64_t{1} << width_bytes * 8) - 1);
}

constexpr std::string_view kOrderNames[] = {"relaxed", "consume", "acquire",
                                            "release", "acq_rel", "seq_cst"};

std::string order_suffix(std::uint8_t order) {
  // seq_cst is what people mean when they write nothing.
  if (order >= 5) return {};
  return fmt::format(" ({})", kOrderNames[order]);
}

std::string error_suffix(std::uint64_t error) {
  switch (error) {
    case 0: return {};
    case EBUSY: return ": busy";
    case ETIMEDOUT: return ": timed out";
  }
  return fmt::format(": error {}", error);
}

std::string with_object(const Trace& trace, const Event& event) {
  const std::string object = describe_object(trace, event.object);
  const char* operation = trace::name(event.kind);
  return object.empty() ? operation : fmt::format("{} {}", operation, object);
}

// What a read-modify-write left behind.
std::uint64_t result_of(const Event& event) {
  const std::uint64_t old = event.value;
  const std::uint64_t operand = event.argument;
  const OpKind kind = event.kind;
  if (kind == OpKind::kAtomicFetchAdd) return cut_to(old + operand, event.width);
  if (kind == OpKind::kAtomicFetchSub) return cut_to(old - operand, event.width);
  if (kind == OpKind::kAtomicFetchAnd) return old & operand;
  if (kind == OpKind::kAtomicFetchOr) return old | operand;
  if (kind == OpKind::kAtomicFetchXor) return old ^ operand;
  if (kind == OpKind::kAtomicFetchNand) return cut_to(~(old & operand), event.width);
  return operand;  // an exchange
}

}  // namespace

std::string_view title(FindingKind kind) {
  switch (kind) {
    case FindingKind::kNone: return "nothing wrong";
    case FindingKind::kAssertion: return "failed assertion";
    case FindingKind::kAbort: return "abort";
    case FindingKind::kAlways: return "weft::always was false";
    case FindingKind::kInvariant: return "broken invariant";
    case FindingKind::kExpectation: return "failed expectation";
    case FindingKind::kUncaughtException: return "uncaught exception";
    case FindingKind::kFatalSignal: return "fatal signal";
    case FindingKind::kDeadlock: return "deadlock";
    case FindingKind::kStepCap: return "step limit reached";
    case FindingKind::kProcessExit: return "process exit";
    case FindingKind::kNondeterminism: return "nondeterminism";
    case FindingKind::kHang: return "hang";
    case FindingKind::kUnsupported: return "unsupported operation";
    case FindingKind::kWorkerDied: return "worker died";
    case FindingKind::kUserError: return "misuse of weft";
    case FindingKind::kDivergence: return "divergence";
    case FindingKind::kDataRace: return "data race";
    case FindingKind::kUseAfterFree: return "use after free";
    case FindingKind::kDoubleFree: return "double free";
    case FindingKind::kInvalidFree: return "invalid free";
    case FindingKind::kLostWakeup: return "lost wake-up";
    case FindingKind::kLivelock: return "livelock";
    case FindingKind::kLockMisuse: return "misuse of a lock or thread";
    case FindingKind::kLeak: return "leak";
    case FindingKind::kThreadLeak: return "leaked thread";
    case FindingKind::kMemoryError: return "memory error";
    case FindingKind::kStarvation: return "starvation";
    case FindingKind::kCount: break;
  }
  WEFT_UNREACHABLE("a finding kind outside its enumeration");
}

std::string counted(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string describe_step(const Trace& trace, const Event& event) {
  std::string what = with_object(trace, event);
  switch (event.kind) {
    case OpKind::kSpawn:
      return fmt::format("spawn task {}",
                         task_path(trace.tasks, static_cast<TaskIndex>(event.value)));
    case OpKind::kTaskBegin:
    case OpKind::kTaskEnd: return trace::name(event.kind);
    case OpKind::kAtomicLoad:
      return fmt::format("{} = {}{}", what, word(event.value), order_suffix(event.order));
    case OpKind::kAtomicStore:
      return fmt::format("{} := {}{}", what, word(event.argument), order_suffix(event.order));
    case OpKind::kAtomicExchange:
    case OpKind::kAtomicFetchAdd:
    case OpKind::kAtomicFetchSub:
    case OpKind::kAtomicFetchAnd:
    case OpKind::kAtomicFetchOr:
    case OpKind::kAtomicFetchXor:
    case OpKind::kAtomicFetchNand:
      return fmt::format("{}: {} -> {}{}", what, word(event.value), word(result_of(event)),
                         order_suffix(event.order));
    case OpKind::kAtomicCompareExchange:
      return fmt::format("{}: read {}, to store {}{}", what, word(event.value),
                         word(event.argument), order_suffix(event.order));
    case OpKind::kFence: return what + order_suffix(event.order);
    case OpKind::kMutexTryLock:
    case OpKind::kMutexTimedLock:
    case OpKind::kCondReacquire:
    case OpKind::kReadTryLock:
    case OpKind::kReadTimedLock:
    case OpKind::kWriteTryLock:
    case OpKind::kWriteTimedLock:
    case OpKind::kSemTryWait:
    case OpKind::kSemTimedWait:
    case OpKind::kSpinTryLock:
    case OpKind::kFileTryLock: return what + error_suffix(event.value);
    case OpKind::kBarrierArrive:
      return fmt::format("{}: {} of {}", what, word(event.value), word(event.argument));
    case OpKind::kSemWait:
    case OpKind::kSemPost: return fmt::format("{}: {} left", what, word(event.value));
    case OpKind::kOutside: return fmt::format("{}: told {}", what, word(event.value));
    case OpKind::kDescriptorWait: return fmt::format("{}: {} ready", what, word(event.value));
    case OpKind::kFutexWait:
      return fmt::format("{}: read {}, waits if {}", what, word(event.value), word(event.argument));
    case OpKind::kFutexWake:
    case OpKind::kCondSignal:
    case OpKind::kCondBroadcast: return fmt::format("{}: woke {}", what, word(event.value));
    case OpKind::kUserChoice:
      return fmt::format("{} {} of {}", what, word(event.value), word(event.argument));
    case OpKind::kClockRead: return fmt::format("{} = {} ns", what, event.value);
    case OpKind::kTimerFire: return fmt::format("{} at {} ns", what, event.time);
    case OpKind::kNone:
    case OpKind::kJoin:
    case OpKind::kDetach:
    case OpKind::kYield:
    case OpKind::kSleep:
    case OpKind::kMutexLock:
    case OpKind::kMutexUnlock:
    case OpKind::kCondWait:
    case OpKind::kCondBlocked:
    case OpKind::kOnce:
    case OpKind::kOnceDone:
    case OpKind::kGuardAcquire:
    case OpKind::kGuardRelease:
    case OpKind::kFutexBlocked:
    case OpKind::kReadLock:
    case OpKind::kWriteLock:
    case OpKind::kRwUnlock:
    case OpKind::kBarrierBlocked:
    case OpKind::kSemName:
    case OpKind::kSpinLock:
    case OpKind::kSpinUnlock:
    case OpKind::kLoaderLock:
    case OpKind::kLoaderUnlock:
    case OpKind::kFileLock:
    case OpKind::kFileUnlock:
    case OpKind::kDestroy:
    case OpKind::kPlainRead:
    case OpKind::kPlainWrite: return what;
    case OpKind::kCount: break;
  }
  WEFT_UNREACHABLE("an operation kind outside its enumeration");
}

std::string describe_access(const trace::FindingAccess& access) {
  const char* const what = trace::name(access.kind);
  const bool whole =
      access.kind == trace::AccessKind::kFree || access.kind == trace::AccessKind::kAllocate;
  // Of what was never a block, the size is not known.
  if (access.kind == trace::AccessKind::kFree && access.size == 0) return what;
  return fmt::format("{} of {}{}", what, whole ? "a block of " : "", counted(access.size, "byte"));
}

std::string missing_order(const Trace& trace) {
  const trace::FindingAccess& later = trace.finding.accesses[0];
  const trace::FindingAccess& earlier = trace.finding.accesses[1];
  if (trace::is_atomic(later.kind) != trace::is_atomic(earlier.kind)) {
    return "One of the two is atomic and the other is not: make both atomic, or put them in order.";
  }
  const std::string first = "task " + task_path(trace.tasks, earlier.task);
  const std::string second = "task " + task_path(trace.tasks, later.task);
  if (earlier.held_count == 0 && later.held_count == 0) {
    return fmt::format(
        "Neither holds a lock, and nothing that {} released after its access was acquired by {} "
        "before its own.",
        first, second);
  }
  if (earlier.held_count == 0 || later.held_count == 0) {
    return fmt::format("Only {} holds a lock; {} takes none.",
                       earlier.held_count == 0 ? second : first,
                       earlier.held_count == 0 ? first : second);
  }
  return "They hold no lock in common.";
}

std::string describe_weak_side(const Trace& trace, const trace::WeakSide& side) {
  const std::string object = describe_object(trace, trace.finding.weak_pair.object);
  return fmt::format("{} {} ({})", trace::name(side.operation),
                     object.empty() ? "something unnamed" : object,
                     side.order < std::size(kOrderNames) ? kOrderNames[side.order] : "unknown");
}

std::string weak_order(const trace::WeakPair& pair) {
  const auto what = [](const trace::WeakSide& side, const char* other) {
    return side.operation == OpKind::kAtomicLoad || side.operation == OpKind::kAtomicStore
               ? std::string(other)
               : std::string(trace::name(side.operation)).substr(std::strlen("atomic "));
  };
  const std::string write = what(pair.write, "store") + " released";
  const std::string read = what(pair.read, "load") + " acquired";
  if (pair.write.suffices) return fmt::format("They would be in order if the {}.", read);
  if (pair.read.suffices) return fmt::format("They would be in order if the {}.", write);
  return fmt::format("They would be in order if the {} and the {}.", write, read);
}

std::string describe_wait(const Trace& trace, const trace::FindingTask& task) {
  const std::string object = describe_object(trace, task.object);
  const std::string named = object.empty() ? "something unnamed" : object;
  const OpKind kind = task.operation;
  if (kind == OpKind::kMutexLock || kind == OpKind::kMutexTimedLock) {
    return fmt::format("to lock {}", named);
  }
  if (kind == OpKind::kReadLock || kind == OpKind::kReadTimedLock) {
    return fmt::format("to lock {} shared", named);
  }
  if (kind == OpKind::kWriteLock || kind == OpKind::kWriteTimedLock) {
    return fmt::format("to lock {} exclusive", named);
  }
  if (kind == OpKind::kFileLock && object.empty()) return "to lock a FILE";
  if (kind == OpKind::kSpinLock || kind == OpKind::kFileLock)
    return fmt::format("to lock {}", named);
  if (kind == OpKind::kSemWait || kind == OpKind::kSemTimedWait) {
    return fmt::format("for {} to be posted", named);
  }
  if (kind == OpKind::kBarrierBlocked) return fmt::format("for the others at {}", named);
  if (kind == OpKind::kLoaderLock) return "for the dynamic loader";
  if (kind == OpKind::kDescriptorWait) return "for descriptors to be ready";
  if (kind == OpKind::kCondReacquire) return fmt::format("to lock {} again after its wait", named);
  if (kind == OpKind::kJoin) return fmt::format("for {} to end", named);
  if (kind == OpKind::kCondBlocked) return fmt::format("for a signal on {}", named);
  if (kind == OpKind::kFutexBlocked) return fmt::format("for a wake of {}", named);
  if (kind == OpKind::kOnce || kind == OpKind::kGuardAcquire) {
    return fmt::format("for the initialisation of {}", named);
  }
  if (kind == OpKind::kSleep) return "for time to pass";
  // The others never block.
  return fmt::format("to {}{}{}", trace::name(kind), object.empty() ? "" : " ", object);
}

}  // namespace weft::reports
