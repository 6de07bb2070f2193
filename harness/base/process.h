// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a process can settle about itself before it explores: where it is loaded and where it runs.
#pragma once

namespace weft {

// Set in the environment by the re-execution, so that it is tried once only.
inline constexpr char kReexecVariable[] = "WEFT_REEXECUTED";

// Whether two runs of this program get different addresses.
bool address_randomisation_active() noexcept;

enum class ReexecResult {
  kAlreadyOff,   // nothing to do
  kRefused,      // the kernel or the container's seccomp filter forbids it; go on with it active
  kIneffective,  // re-executed, and still active; go on
  kExecFailed,   // it was switched off for the next program, but /proc/self/exe would not start
};

// Starts this program again with address-space randomisation off and the same arguments and
// environment; returns only when it does not. Call it first thing in main, before threads, with
// main's own `arguments`.
ReexecResult disable_address_randomisation_by_reexec(char* const* arguments) noexcept;

// One line for `weft doctor`.
const char* describe(ReexecResult result) noexcept;

// Binds the calling thread, and threads it creates later, to one of the processors it may use now:
// number `ordinal`, modulo how many there are. Returns the processor's number, or -1 when refused.
int pin_to_one_cpu(unsigned ordinal = 0) noexcept;

}  // namespace weft
