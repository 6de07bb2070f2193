// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a task is about to do: the vocabulary shared by the engine, the
// strategies, the trace and the reports.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/base/ids.h"

namespace weft::trace {

/// Kinds are stored in traces: append only, and bump the trace version otherwise.
enum class OpKind : std::uint8_t {
  kNone,
  kTaskBegin,
  kTaskEnd,
  kSpawn,
  kJoin,
  kDetach,
  kYield,
  kSleep,
  kClockRead,
  kMutexLock,
  kMutexTryLock,
  kMutexUnlock,
  kCondWait,       // about to release the mutex and wait
  kCondReacquire,  // woken or timed out; needs the mutex back
  kCondSignal,
  kCondBroadcast,
  kOnce,
  kOnceDone,
  kGuardAcquire,
  kGuardRelease,
  kFutexWait,     // about to compare the word
  kFutexBlocked,  // compared equal; waits for a wake
  kFutexWake,
  kAtomicLoad,
  kAtomicStore,
  kAtomicExchange,
  kAtomicFetchAdd,
  kAtomicFetchSub,
  kAtomicFetchAnd,
  kAtomicFetchOr,
  kAtomicFetchXor,
  kAtomicFetchNand,
  kAtomicCompareExchange,
  kFence,
  kPlainRead,
  kPlainWrite,
  kTimerFire,   // step task: virtual time reaches the next deadline
  kUserChoice,  // weft::choose
  kMutexTimedLock,
  kCondBlocked,  // waits for a signal
  kReadLock,
  kReadTryLock,
  kReadTimedLock,
  kWriteLock,
  kWriteTryLock,
  kWriteTimedLock,
  kRwUnlock,
  kBarrierArrive,
  kBarrierBlocked,  // for the last one to arrive
  kSemWait,
  kSemTryWait,
  kSemTimedWait,
  kSemPost,
  kSemName,  // sem_open and its kin: about names
  kSpinLock,
  kSpinTryLock,
  kSpinUnlock,
  kLoaderLock,  // dlopen, dlclose, dlsym
  kLoaderUnlock,
  kDestroy,         // of a lock, barrier or condition variable
  kOutside,         // for random numbers and the like
  kDescriptorWait,  // poll, select, epoll_wait
  kFileLock,        // flockfile
  kFileTryLock,
  kFileUnlock,
  kCount
};

/// How an operation touches its object; two operations on one object are
/// dependent unless both are kRead.
enum class Access : std::uint8_t { kNone, kRead, kWrite, kReadWrite, kSync };

/// What an operation may have to wait for. kNone: it is always enabled.
enum class WaitKind : std::uint8_t {
  kNone,
  kLock,
  kWake,
  kTime,
  kTask,
  kOnce,
  kGuard,
  kRead,
  kWrite,
  kSemaphore,
  kSpin,
  kOwner,    // of a recursive lock that the lock table alone knows
  kOutside,  // what the engine does not see change
};

namespace detail {

struct Row {
  OpKind kind;
  const char* name;
  Access access;
  WaitKind wait = WaitKind::kNone;
};

/// In the order of the enumeration.
inline constexpr Row kRows[] = {
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
  for (std::size_t i = 0; i < (sizeof kRows / sizeof kRows[0]); ++i) {
    if (kRows[i].kind != static_cast<OpKind>(i)) return false;
  }
  return (sizeof kRows / sizeof kRows[0]) == static_cast<std::size_t>(OpKind::kCount);
}
static_assert(complete_and_in_order());

}  // namespace detail

/// The field's name for the operation, as reports print it.
[[nodiscard]] const char* name(OpKind kind) noexcept;
[[nodiscard]] constexpr Access access_of(OpKind kind) noexcept {
  return detail::kRows[static_cast<std::size_t>(kind)].access;
}
[[nodiscard]] constexpr WaitKind wait_kind(OpKind kind) noexcept {
  return detail::kRows[static_cast<std::size_t>(kind)].wait;
}

[[nodiscard]] constexpr bool is_plain(OpKind k) noexcept {
  return k == OpKind::kPlainRead || k == OpKind::kPlainWrite;
}

/// Once enabled, the operation commutes with every operation of every other
/// task: performing it at once loses no partial order, and it may bring
/// operations into play that do not commute.
[[nodiscard]] constexpr bool commutes(OpKind kind) noexcept {
  return kind == OpKind::kTaskBegin || kind == OpKind::kTaskEnd || kind == OpKind::kSpawn ||
         kind == OpKind::kJoin || kind == OpKind::kOutside;
}

[[nodiscard]] constexpr bool is_about_file(OpKind k) noexcept {
  return k == OpKind::kFileLock || k == OpKind::kFileTryLock || k == OpKind::kFileUnlock;
}

inline constexpr std::uint64_t kNever = ~std::uint64_t{0};  // no deadline

/// A schedule point's operation, announced before it happens.
struct Operation {
  OpKind kind = OpKind::kNone;
  std::uint8_t width = 0;  // bytes accessed, 0 where it has no meaning
  std::uint8_t order = 5;  // C11 memory order (0 relaxed .. 5 seq_cst)
  std::uint8_t failure_order = 5;
  std::uint32_t flags = 0;
  std::uintptr_t address = 0;       // of the object; Execution::object_of() names it
  std::uintptr_t pc = 0;            // return address in the subject's code
  std::uint64_t argument = 0;       // value to store, task awaited, count to wake
  std::uint64_t deadline = kNever;  // virtual nanoseconds
};

}  // namespace weft::trace
