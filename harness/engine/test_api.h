// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The engine's side of what a test may say: each function of <weft/weft.h>
// that matters inside an execution ends here. All but on_task() are called on a
// task only; harness/api decides what they mean elsewhere.
#pragma once

#include <cstdint>

namespace weft::engine {

/// True on a task under exploration, false on any other thread.
[[nodiscard]] bool on_task() noexcept;

/// weft::always: ends the execution with a finding where `condition` is false.
/// `pc` is the return address in the subject's code.
void check_always(bool condition, const char* what, std::uintptr_t pc);

/// weft::sometimes: enters the mark `what` in the channel, and counts this
/// execution for it, once, where `condition` is true.
void mark_sometimes(bool condition, const char* what);

/// weft::choose: a number in [0, n); n == 0 is a user error. `pc` as above.
[[nodiscard]] std::uint64_t choose(std::uint64_t n, std::uintptr_t pc);

/// weft::invariant: calls `holds(context)` after every further step of this
/// execution; both live in the subject's memory and die with the execution.
void add_invariant(bool (*holds)(void*), void* context, const char* what);

/// weft::bounded_bypass: for the lock at `lock`, or, where that is 0, for every lock that has no
/// bound of its own.
void bound_bypass(std::uintptr_t lock, std::uint64_t most);

/// A failed expectation of a test framework: ends the execution with a finding.
/// `file` may be null where the framework does not know it.
[[noreturn]] void report_expectation(const char* file, int line, const char* message);

}  // namespace weft::engine
