// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Always-on internal checks: a condition that fails is a bug of ours, never a finding and never a
// user's mistake.
//
// A failed check writes one line to file descriptor 2, gives the last-words hook one chance to save
// the schedule, and leaves with status 3. It neither allocates nor unwinds, so it may fail
// anywhere: in a signal handler, inside the subject's malloc, half-way through a task switch. A
// check that fails inside the hook skips the hook.
#pragma once

namespace weft {

inline constexpr int kInternalErrorExit = 3;

// Called once by the first failing check, so that the schedule that led to it reaches the disk. It
// may only do what a signal handler may do.
using LastWords = void (*)() noexcept;

// Installs the hook. Call it before the writable segments are snapshotted, from the process's only
// thread.
void set_last_words(LastWords hook) noexcept;

namespace detail {
[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const char* message) noexcept;
}  // namespace detail

}  // namespace weft

// `message` is a string literal that names the likely cause.
#define WEFT_CHECK(condition, message)                                             \
  do {                                                                             \
    if (!(condition)) [[unlikely]]                                                 \
      ::weft::detail::check_failed(__FILE__, __LINE__, #condition, "" message ""); \
  } while (false)

// For paths that no input reaches, such as the end of a function after an exhaustive switch.
#define WEFT_UNREACHABLE(message) \
  ::weft::detail::check_failed(__FILE__, __LINE__, "unreachable", "" message "")
