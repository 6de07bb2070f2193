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
    case OpKind::kReadLock: return "lock shared";
    case OpKind::kReadTryLock: return "try_lock shared";
    case OpKind::kReadTimedLock: return "timed lock shared";
    case OpKind::kWriteLock: return "lock exclusive";
    case OpKind::kWriteTryLock: return "try_lock exclusive";
    case OpKind::kWriteTimedLock: return "timed lock exclusive";
    case OpKind::kRwUnlock: return "unlock shared or exclusive";
    case OpKind::kBarrierArrive: return "arrive";
    case OpKind::kBarrierBlocked: return "waits at the barrier";
    case OpKind::kSemWait: return "semaphore wait";
    case OpKind::kSemTryWait: return "semaphore try_wait";
    case OpKind::kSemTimedWait: return "semaphore timed wait";
    case OpKind::kSemPost: return "semaphore post";
    case OpKind::kSemName: return "semaphore name";
    case OpKind::kSpinLock: return "spin lock";
    case OpKind::kSpinTryLock: return "spin try_lock";
    case OpKind::kSpinUnlock: return "spin unlock";
    case OpKind::kLoaderLock: return "enter the loader";
    case OpKind::kLoaderUnlock: return "leave the loader";
    case OpKind::kDestroy: return "destroy";
    case OpKind::kOutside: return "asks the system";
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
    case OpKind::kUserChoice:
    case OpKind::kOutside: return Access::kNone;
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
    case OpKind::kFutexWake:
    case OpKind::kReadLock:
    case OpKind::kReadTryLock:
    case OpKind::kReadTimedLock:
    case OpKind::kWriteLock:
    case OpKind::kWriteTryLock:
    case OpKind::kWriteTimedLock:
    case OpKind::kRwUnlock:
    case OpKind::kBarrierArrive:
    case OpKind::kBarrierBlocked:
    case OpKind::kSemWait:
    case OpKind::kSemTryWait:
    case OpKind::kSemTimedWait:
    case OpKind::kSemPost:
    case OpKind::kSemName:
    case OpKind::kSpinLock:
    case OpKind::kSpinTryLock:
    case OpKind::kSpinUnlock:
    case OpKind::kLoaderLock:
    case OpKind::kLoaderUnlock:
    case OpKind::kDestroy: return Access::kSync;
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
    case OpKind::kCondBlocked:
    case OpKind::kBarrierBlocked: return WaitKind::kWake;
    case OpKind::kSleep: return WaitKind::kTime;
    case OpKind::kJoin: return WaitKind::kTask;
    case OpKind::kOnce: return WaitKind::kOnce;
    case OpKind::kGuardAcquire: return WaitKind::kGuard;
    case OpKind::kReadLock:
    case OpKind::kReadTimedLock: return WaitKind::kRead;
    case OpKind::kWriteLock:
    case OpKind::kWriteTimedLock: return WaitKind::kWrite;
    case OpKind::kSemWait:
    case OpKind::kSemTimedWait: return WaitKind::kSemaphore;
    case OpKind::kSpinLock: return WaitKind::kSpin;
    case OpKind::kLoaderLock: return WaitKind::kLoader;
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
    case OpKind::kReadTryLock:
    case OpKind::kWriteTryLock:
    case OpKind::kRwUnlock:
    case OpKind::kBarrierArrive:
    case OpKind::kSemTryWait:
    case OpKind::kSemPost:
    case OpKind::kSemName:
    case OpKind::kSpinTryLock:
    case OpKind::kSpinUnlock:
    case OpKind::kLoaderUnlock:
    case OpKind::kDestroy:
    case OpKind::kOutside:
    case OpKind::kCount: return WaitKind::kNone;
  }
  return WaitKind::kNone;
}

}  // namespace weft::trace
