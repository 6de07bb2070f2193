// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/trace/operation.h"

#include <cstddef>
#include <iterator>

#include "harness/base/check.h"

namespace weft::trace {
namespace {

struct Row {
  OpKind kind;
  const char* name;
  Access access;
  WaitKind wait = WaitKind::kNone;
};

/// In the order of the enumeration.
constexpr Row kRows[] = {
    {OpKind::kNone, "none", Access::kNone},
    {OpKind::kTaskBegin, "begin", Access::kNone},
    {OpKind::kTaskEnd, "end", Access::kNone},
    {OpKind::kSpawn, "spawn", Access::kSync},
    {OpKind::kJoin, "join", Access::kSync, WaitKind::kTask},
    {OpKind::kDetach, "detach", Access::kSync},
    {OpKind::kYield, "yield", Access::kNone},
    {OpKind::kSleep, "sleep", Access::kNone, WaitKind::kTime},
    {OpKind::kClockRead, "clock read", Access::kNone},
    {OpKind::kMutexLock, "lock", Access::kSync, WaitKind::kLock},
    {OpKind::kMutexTryLock, "try_lock", Access::kSync},
    {OpKind::kMutexUnlock, "unlock", Access::kSync},
    {OpKind::kCondWait, "wait", Access::kSync},
    {OpKind::kCondReacquire, "reacquire after wait", Access::kSync, WaitKind::kLock},
    {OpKind::kCondSignal, "signal", Access::kSync},
    {OpKind::kCondBroadcast, "broadcast", Access::kSync},
    {OpKind::kOnce, "once", Access::kSync, WaitKind::kOnce},
    {OpKind::kOnceDone, "once done", Access::kSync},
    {OpKind::kGuardAcquire, "guard acquire", Access::kSync, WaitKind::kGuard},
    {OpKind::kGuardRelease, "guard release", Access::kSync},
    {OpKind::kFutexWait, "futex wait", Access::kSync},
    {OpKind::kFutexBlocked, "futex blocked", Access::kSync, WaitKind::kWake},
    {OpKind::kFutexWake, "futex wake", Access::kSync},
    {OpKind::kAtomicLoad, "atomic load", Access::kRead},
    {OpKind::kAtomicStore, "atomic store", Access::kWrite},
    {OpKind::kAtomicExchange, "atomic exchange", Access::kReadWrite},
    {OpKind::kAtomicFetchAdd, "atomic fetch_add", Access::kReadWrite},
    {OpKind::kAtomicFetchSub, "atomic fetch_sub", Access::kReadWrite},
    {OpKind::kAtomicFetchAnd, "atomic fetch_and", Access::kReadWrite},
    {OpKind::kAtomicFetchOr, "atomic fetch_or", Access::kReadWrite},
    {OpKind::kAtomicFetchXor, "atomic fetch_xor", Access::kReadWrite},
    {OpKind::kAtomicFetchNand, "atomic fetch_nand", Access::kReadWrite},
    {OpKind::kAtomicCompareExchange, "atomic compare_exchange", Access::kReadWrite},
    {OpKind::kFence, "fence", Access::kNone},
    {OpKind::kPlainRead, "read", Access::kRead},
    {OpKind::kPlainWrite, "write", Access::kWrite},
    {OpKind::kTimerFire, "timer fires", Access::kNone},
    {OpKind::kUserChoice, "choose", Access::kNone},
    {OpKind::kMutexTimedLock, "timed lock", Access::kSync, WaitKind::kLock},
    {OpKind::kCondBlocked, "waits for a signal", Access::kSync, WaitKind::kWake},
    {OpKind::kReadLock, "lock shared", Access::kSync, WaitKind::kRead},
    {OpKind::kReadTryLock, "try_lock shared", Access::kSync},
    {OpKind::kReadTimedLock, "timed lock shared", Access::kSync, WaitKind::kRead},
    {OpKind::kWriteLock, "lock exclusive", Access::kSync, WaitKind::kWrite},
    {OpKind::kWriteTryLock, "try_lock exclusive", Access::kSync},
    {OpKind::kWriteTimedLock, "timed lock exclusive", Access::kSync, WaitKind::kWrite},
    {OpKind::kRwUnlock, "unlock shared or exclusive", Access::kSync},
    {OpKind::kBarrierArrive, "arrive", Access::kSync},
    {OpKind::kBarrierBlocked, "waits at the barrier", Access::kSync, WaitKind::kWake},
    {OpKind::kSemWait, "semaphore wait", Access::kSync, WaitKind::kSemaphore},
    {OpKind::kSemTryWait, "semaphore try_wait", Access::kSync},
    {OpKind::kSemTimedWait, "semaphore timed wait", Access::kSync, WaitKind::kSemaphore},
    {OpKind::kSemPost, "semaphore post", Access::kSync},
    {OpKind::kSemName, "semaphore name", Access::kSync},
    {OpKind::kSpinLock, "spin lock", Access::kSync, WaitKind::kSpin},
    {OpKind::kSpinTryLock, "spin try_lock", Access::kSync},
    {OpKind::kSpinUnlock, "spin unlock", Access::kSync},
    {OpKind::kLoaderLock, "enter the loader", Access::kSync, WaitKind::kOwner},
    {OpKind::kLoaderUnlock, "leave the loader", Access::kSync},
    {OpKind::kDestroy, "destroy", Access::kSync},
    {OpKind::kOutside, "asks the system", Access::kNone},
    {OpKind::kDescriptorWait, "waits for descriptors", Access::kNone, WaitKind::kOutside},
    {OpKind::kFileLock, "lock FILE", Access::kSync, WaitKind::kOwner},
    {OpKind::kFileTryLock, "try_lock FILE", Access::kSync},
    {OpKind::kFileUnlock, "unlock FILE", Access::kSync},
};
constexpr bool complete_and_in_order() {
  for (std::size_t i = 0; i < std::size(kRows); ++i) {
    if (kRows[i].kind != static_cast<OpKind>(i)) return false;
  }
  return std::size(kRows) == static_cast<std::size_t>(OpKind::kCount);
}
static_assert(complete_and_in_order());

const Row& row(OpKind kind) noexcept {
  const auto index = static_cast<std::size_t>(kind);
  WEFT_CHECK(index < std::size(kRows), "an operation kind outside its enumeration");
  return kRows[index];
}

}  // namespace

const char* name(OpKind kind) noexcept { return row(kind).name; }

Access access_of(OpKind kind) noexcept { return row(kind).access; }

WaitKind wait_kind(OpKind kind) noexcept { return row(kind).wait; }

}  // namespace weft::trace
