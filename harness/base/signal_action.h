// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Signal handlers whose return is a system call at an address that we know.
//
// libc has a handler return through code of its own, which a system call trap
// (image/system_call_trap.h) would take for the subject's.
#pragma once

#include <signal.h>

#include <cstdint>

namespace weft {

using SignalHandler = void (*)(int, siginfo_t*, void*);

/// Like sigaction(2), with SA_SIGINFO always, and `blocked` signals blocked meanwhile.
void handle_signal(int signal, SignalHandler handler, int flags, const sigset_t& blocked) noexcept;

struct CodeRange {
  std::uintptr_t begin;
  std::uintptr_t end;
};

/// Where handlers return to.
[[nodiscard]] CodeRange signal_return_code() noexcept;

}  // namespace weft
