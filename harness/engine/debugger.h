// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A worker as somebody sees it who holds it with a debugger: where it stops, and what its kernel
// threads are called. Worker side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "harness/base/export.h"
#include "harness/base/ids.h"
#include "harness/trace/channel.h"

namespace weft::engine {

/// Whether somebody traces the calling thread: a debugger, or strace.
[[nodiscard]] bool being_traced() noexcept;

/// Lets every process of this user trace this one, tells the supervisor by `channel`, and returns
/// when one does.
void await_debugger(trace::Channel& channel) noexcept;

/// The system has room for so many characters of a name.
inline constexpr std::size_t kMaxThreadName = 15;

/// What debuggers, ps and top show for the kernel thread `tid` of this process. Of what is too long
/// the end is kept, which tells tasks apart.
void name_kernel_thread(std::int32_t tid, std::string_view name) noexcept;

}  // namespace weft::engine

extern "C" {

/// Where a debugger's breakpoint belongs: called at each finding while a debugger holds the worker,
/// and before the step that `weft replay --gdb --at` names. Does nothing.
///
/// `step` is the number of the step, as in traces and reports; `task` the path of the task that
/// performs it or that the finding is about; `operation` what that task is about to do, or did last
/// where it is running, with the `object` at that address; `message` why this is called.
WEFT_EXPORT void weft_stop_for_debugger(weft::StepIndex step, const char* task,
                                        const char* operation, const void* object,
                                        const char* message) noexcept;
}
