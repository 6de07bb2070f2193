// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a task is about to do: the vocabulary shared by the engine, the
// strategies, the trace and the reports.
#pragma once

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

/// The field's name for the operation, as reports print it.
[[nodiscard]] const char* name(OpKind kind) noexcept;

/// How an operation touches its object; two operations on one object are
/// dependent unless both are kRead.
enum class Access : std::uint8_t { kNone, kRead, kWrite, kReadWrite, kSync };

[[nodiscard]] Access access_of(OpKind kind) noexcept;

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

[[nodiscard]] WaitKind wait_kind(OpKind kind) noexcept;

[[nodiscard]] constexpr bool is_plain(OpKind k) noexcept {
  return k == OpKind::kPlainRead || k == OpKind::kPlainWrite;
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
