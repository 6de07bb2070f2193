// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Programs of two threads whose data races are known. Tasks change at sched_yield() and at the
// pthread functions.
#pragma once

namespace under_tsan {

/// Two writes, ordered by nothing: a race in every schedule.
void unordered_writes();
/// The same under a mutex: none.
void locked_writes();
/// A flag tells that the first write is done. Relaxed, it orders nothing: a race in every schedule.
void relaxed_flag();
/// Released and acquired, it does: none.
void released_flag();
/// The second thread writes only where it finds the first half-way: a race in some schedules.
void writes_half_way();
/// No race. What is a thread's own is still its own after each change of task.
void own_state();

/// Defined by the driver: ends the process.
[[noreturn]] void wrong(const char* what);

}  // namespace under_tsan
