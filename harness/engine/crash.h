// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Signals that end an execution, and exceptions that nobody catches.
#pragma once

namespace weft::engine {

class Execution;

/// Turns fatal signals, std::terminate and the watchdog's signal into findings of
/// `execution`. Once per worker, before the snapshot.
void install_crash_handlers(Execution& execution) noexcept;

/// What the watchdog's signal does, for the handler of another signal: the task that was
/// interrupted at `context` hangs.
[[noreturn]] void fail_hung(const void* context) noexcept;

}  // namespace weft::engine
