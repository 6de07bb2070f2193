// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/image/system_call_trap.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "harness/base/signal_action.h"
#include "harness/base/system_call.h"

namespace weft::image {
namespace {

// In linux/prctl.h and asm-generic/siginfo.h since 5.11; libc's headers may be older.
constexpr int kSetDispatch = 59;  // PR_SET_SYSCALL_USER_DISPATCH
constexpr int kDispatchOff = 0;   // PR_SYS_DISPATCH_OFF
constexpr int kDispatchOn = 1;    // PR_SYS_DISPATCH_ON
constexpr int kUserDispatch = 2;  // SYS_USER_DISPATCH, an si_code of SIGSYS

constexpr greg_t kSystemCallBytes = 2;  // the instruction's length

}  // namespace

bool SystemCallTrap::prepare() noexcept {
  // The return from a signal handler is a system call, too.
  const CodeRange always = signal_return_code();
  prepared_ = !is_error(system_call(SYS_prctl, kSetDispatch, kDispatchOn, always.begin,
                                    always.end - always.begin, &selector_));
  return prepared_;
}

SystemCallTrap::~SystemCallTrap() {
  disarm();
  if (prepared_) system_call(SYS_prctl, kSetDispatch, kDispatchOff, 0, 0, 0);
}

bool SystemCallTrap::sprang(int signal, const siginfo_t& info, void* context) noexcept {
  if (signal != SIGSYS || info.si_code != kUserDispatch) return false;
  disarm();
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  // Again, this time for good. The kernel has left the number where the instruction takes it from.
  registers[REG_RIP] -= kSystemCallBytes;
  registers[REG_RAX] = info.si_syscall;
  return true;
}

}  // namespace weft::image
