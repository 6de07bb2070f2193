// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/trace/finding.h"

#include "harness/base/check.h"

namespace weft::trace {

const char* name(FindingKind kind) noexcept {
  switch (kind) {
    case FindingKind::kNone: return "none";
    case FindingKind::kAssertion: return "assertion";
    case FindingKind::kAbort: return "abort";
    case FindingKind::kAlways: return "always";
    case FindingKind::kInvariant: return "invariant";
    case FindingKind::kExpectation: return "expectation";
    case FindingKind::kUncaughtException: return "uncaught_exception";
    case FindingKind::kFatalSignal: return "fatal_signal";
    case FindingKind::kDeadlock: return "deadlock";
    case FindingKind::kStepCap: return "step_cap";
    case FindingKind::kProcessExit: return "process_exit";
    case FindingKind::kNondeterminism: return "nondeterminism";
    case FindingKind::kHang: return "hang";
    case FindingKind::kUnsupported: return "unsupported";
    case FindingKind::kWorkerDied: return "worker_died";
    case FindingKind::kUserError: return "user_error";
    case FindingKind::kDivergence: return "divergence";
    case FindingKind::kDataRace: return "data_race";
    case FindingKind::kUseAfterFree: return "use_after_free";
    case FindingKind::kDoubleFree: return "double_free";
    case FindingKind::kInvalidFree: return "invalid_free";
    case FindingKind::kLostWakeup: return "lost_wakeup";
    case FindingKind::kLivelock: return "livelock";
    case FindingKind::kLockMisuse: return "lock_misuse";
    case FindingKind::kLeak: return "leak";
    case FindingKind::kThreadLeak: return "thread_leak";
    case FindingKind::kMemoryError: return "memory_error";
    case FindingKind::kStarvation: return "starvation";
    case FindingKind::kCount: break;
  }
  WEFT_UNREACHABLE("a finding kind outside its enumeration");
}

const char* name(AccessKind kind) noexcept {
  switch (kind) {
    case AccessKind::kRead: return "read";
    case AccessKind::kWrite: return "write";
    case AccessKind::kAtomicRead: return "atomic read";
    case AccessKind::kAtomicWrite: return "atomic write";
    case AccessKind::kFree: return "free";
    case AccessKind::kAllocate: return "allocation";
  }
  WEFT_UNREACHABLE("an access kind outside its enumeration");
}

}  // namespace weft::trace
