// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/base/signal_action.h"

#include <sys/syscall.h>

#include "harness/base/check.h"
#include "harness/base/system_call.h"

// The kernel's interface (sigreturn(2)): 15 is rt_sigreturn. Unwinders know a signal's frame by
// these very instructions, and look for what precedes a return address: hence the nop. Debuggers go
// by the name, which is that of libc's function.
asm(R"(
.text
.p2align 4
.type __restore_rt, @function
  nop
__restore_rt:
  movq $15, %rax
  syscall
.Lweft_signal_return_end:
  nop
.size __restore_rt, . - __restore_rt

.section .data.rel.ro, "aw", @progbits
.p2align 3
.hidden weft_signal_return
.globl weft_signal_return
weft_signal_return:
  .quad __restore_rt
.hidden weft_signal_return_end
.globl weft_signal_return_end
weft_signal_return_end:
  .quad .Lweft_signal_return_end
.text
)");

extern "C" {
extern void (*const weft_signal_return)();
extern const std::uintptr_t weft_signal_return_end;
}

namespace weft {

void handle_signal(int signal, SignalHandler handler, int flags, const sigset_t& blocked) noexcept {
  constexpr unsigned long kRestorer = 0x04000000;  // SA_RESTORER, which libc's headers do not tell
  struct KernelAction {
    SignalHandler handler;
    unsigned long flags;
    void (*restorer)();
    std::uint64_t mask;
  } action{handler, kRestorer | SA_SIGINFO | static_cast<unsigned>(flags), weft_signal_return, 0};
  for (int number = 1; number <= 64; ++number) {
    if (sigismember(&blocked, number) == 1) action.mask |= std::uint64_t{1} << (number - 1);
  }
  const long result = system_call(SYS_rt_sigaction, signal, &action, nullptr, sizeof action.mask);
  WEFT_CHECK(!is_error(result), "the kernel refuses a signal handler");
}

CodeRange signal_return_code() noexcept {
  // The kernel looks at the address behind the instruction.
  return {reinterpret_cast<std::uintptr_t>(weft_signal_return), weft_signal_return_end + 1};
}

}  // namespace weft
