// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/trace/operation.h"

#include "harness/base/check.h"

namespace weft::trace {

const char* name(OpKind kind) noexcept {
  switch (kind) {
    case OpKind::kNone: return "none";
    case OpKind::kTaskBegin: return "begin";
    case OpKind::kTaskEnd: return "end";
    case OpKind::kSpawn: return "spawn";
    case OpKind::kJoin: return "join";
    case OpKind::kDetach: return "detach";
    case OpKind::kYield: return "yield";
    case OpKind::kSleep: return "sleep";
    case OpKind::kClockRead: return "clock read";
    case OpKind::kMutexLock: return "lock";
    case OpKind::kMutexTryLock: return "try_lock";
    case OpKind::kMutexUnlock: return "unlock";
    case OpKind::kCondWait: return "wait";
    case OpKind::kCondReacquire: return "reacquire after wait";
    case OpKind::kCondSignal: return "signal";
    case OpKind::kCondBroadcast: return "broadcast";
    case OpKind::kOnce: return "once";
    case OpKind::kOnceDone: return "once done";
    case OpKind::kGuardAcquire: return "guard acquire";
    case OpKind::kGuardRelease: return "guard release";
    case OpKind::kFutexWait: return "futex wait";
    case OpKind::kFutexBlocked: return "futex blocked";
    case OpKind::kFutexWake: return "futex wake";
    case OpKind::kAtomicLoad: return "atomic load";
    case OpKind::kAtomicStore: return "atomic store";
    case OpKind::kAtomicExchange: return "atomic exchange";
    case OpKind::kAtomicFetchAdd: return "atomic fetch_add";
    case OpKind::kAtomicFetchSub: return "atomic fetch_sub";
    case OpKind::kAtomicFetchAnd: return "atomic fetch_and";
    case OpKind::kAtomicFetchOr: return "atomic fetch_or";
    case OpKind::kAtomicFetchXor: return "atomic fetch_xor";
    case OpKind::kAtomicFetchNand: return "atomic fetch_nand";
    case OpKind::kAtomicCompareExchange: return "atomic compare_exchange";
    case OpKind::kFence: return "fence";
    case OpKind::kPlainRead: return "read";
    case OpKind::kPlainWrite: return "write";
    case OpKind::kTimerFire: return "timer fires";
    case OpKind::kUserChoice: return "choose";
    case OpKind::kMutexTimedLock: return "timed lock";
    case OpKind::kCondBlocked: return "waits for a signal";
    case OpKind::kCount: break;
  }
  WEFT_UNREACHABLE("an operation kind outside its enumeration");
}

Access access_of(OpKind kind) noexcept {
  switch (kind) {
    case OpKind::kNone:
    case OpKind::kTaskBegin:
    case OpKind::kTaskEnd:
    case OpKind::kYield:
    case OpKind::kSleep:
    case OpKind::kClockRead:
    case OpKind::kFence:
    case OpKind::kTimerFire:
    case OpKind::kUserChoice: return Access::kNone;
    case OpKind::kPlainRead:
    case OpKind::kAtomicLoad: return Access::kRead;
    case OpKind::kPlainWrite:
    case OpKind::kAtomicStore: return Access::kWrite;
    case OpKind::kAtomicExchange:
    case OpKind::kAtomicFetchAdd:
    case OpKind::kAtomicFetchSub:
    case OpKind::kAtomicFetchAnd:
    case OpKind::kAtomicFetchOr:
    case OpKind::kAtomicFetchXor:
    case OpKind::kAtomicFetchNand:
    case OpKind::kAtomicCompareExchange: return Access::kReadWrite;
    case OpKind::kSpawn:
    case OpKind::kJoin:
    case OpKind::kDetach:
    case OpKind::kMutexLock:
    case OpKind::kMutexTryLock:
    case OpKind::kMutexTimedLock:
    case OpKind::kMutexUnlock:
    case OpKind::kCondWait:
    case OpKind::kCondReacquire:
    case OpKind::kCondBlocked:
    case OpKind::kCondSignal:
    case OpKind::kCondBroadcast:
    case OpKind::kOnce:
    case OpKind::kOnceDone:
    case OpKind::kGuardAcquire:
    case OpKind::kGuardRelease:
    case OpKind::kFutexWait:
    case OpKind::kFutexBlocked:
    case OpKind::kFutexWake: return Access::kSync;
    case OpKind::kCount: break;
  }
  WEFT_UNREACHABLE("an operation kind outside its enumeration");
}

WaitKind wait_kind(OpKind kind) noexcept {
  switch (kind) {
    case OpKind::kMutexLock:
    case OpKind::kCondReacquire:
    case OpKind::kMutexTimedLock: return WaitKind::kLock;
    case OpKind::kFutexBlocked:
    case OpKind::kCondBlocked: return WaitKind::kWake;
    case OpKind::kSleep: return WaitKind::kTime;
    case OpKind::kJoin: return WaitKind::kTask;
    case OpKind::kOnce: return WaitKind::kOnce;
    case OpKind::kGuardAcquire: return WaitKind::kGuard;
    case OpKind::kNone:
    case OpKind::kTaskBegin:
    case OpKind::kTaskEnd:
    case OpKind::kSpawn:
    case OpKind::kDetach:
    case OpKind::kYield:
    case OpKind::kClockRead:
    case OpKind::kMutexTryLock:
    case OpKind::kMutexUnlock:
    case OpKind::kCondWait:
    case OpKind::kCondSignal:
    case OpKind::kCondBroadcast:
    case OpKind::kOnceDone:
    case OpKind::kGuardRelease:
    case OpKind::kFutexWait:
    case OpKind::kFutexWake:
    case OpKind::kAtomicLoad:
    case OpKind::kAtomicStore:
    case OpKind::kAtomicExchange:
    case OpKind::kAtomicFetchAdd:
    case OpKind::kAtomicFetchSub:
    case OpKind::kAtomicFetchAnd:
    case OpKind::kAtomicFetchOr:
    case OpKind::kAtomicFetchXor:
    case OpKind::kAtomicFetchNand:
    case OpKind::kAtomicCompareExchange:
    case OpKind::kFence:
    case OpKind::kPlainRead:
    case OpKind::kPlainWrite:
    case OpKind::kTimerFire:
    case OpKind::kUserChoice:
    case OpKind::kCount: return WaitKind::kNone;
  }
  return WaitKind::kNone;
}

}  // namespace weft::trace
