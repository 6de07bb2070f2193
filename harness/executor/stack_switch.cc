// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/executor/stack_switch.h"

#include <cstring>

// Control words are loaded only where they differ: ldmxcsr and fldcw cost more than all the rest.
// The last instruction is a jump, not a return: the processor predicts returns by the calls of the
// stack that was left, and a jump by where it went before, which is the same place nearly always.
asm(R"(
.text

.macro weft_push_registers
  pushq %rbp
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rbp, 0
  pushq %rbx
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rbx, 0
  pushq %r12
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %r12, 0
  pushq %r13
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %r13, 0
  pushq %r14
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %r14, 0
  pushq %r15
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %r15, 0
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
.endm

.macro weft_pop_registers
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %r15
  .cfi_adjust_cfa_offset -8
  .cfi_restore %r15
  popq %r14
  .cfi_adjust_cfa_offset -8
  .cfi_restore %r14
  popq %r13
  .cfi_adjust_cfa_offset -8
  .cfi_restore %r13
  popq %r12
  .cfi_adjust_cfa_offset -8
  .cfi_restore %r12
  popq %rbx
  .cfi_adjust_cfa_offset -8
  .cfi_restore %rbx
  popq %rbp
  .cfi_adjust_cfa_offset -8
  .cfi_restore %rbp
  popq %rcx
  .cfi_adjust_cfa_offset -8
  .cfi_register %rip, %rcx
  jmpq *%rcx
.endm

.p2align 4
.globl weft_switch_stack
.hidden weft_switch_stack
.type weft_switch_stack, @function
weft_switch_stack:
  .cfi_startproc
  weft_push_registers
  movl (%rsp), %eax
  movzwl 4(%rsp), %edx
  movq %rsp, (%rdi)
weft_go_on:
  movq %rsi, %rsp
  cmpl (%rsp), %eax
  jne 1f
  cmpw 4(%rsp), %dx
  jne 1f
2:
  .cfi_remember_state
  weft_pop_registers
1:
  .cfi_restore_state
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  jmp 2b
  .cfi_endproc
.size weft_switch_stack, . - weft_switch_stack

.p2align 4
.globl weft_leave_stack
.hidden weft_leave_stack
.type weft_leave_stack, @function
weft_leave_stack:
  .cfi_startproc
  .cfi_undefined %rip
  subq $8, %rsp
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movl (%rsp), %eax
  movzwl 4(%rsp), %edx
  movq %rdi, %rsi
  jmp weft_go_on
  .cfi_endproc
.size weft_leave_stack, . - weft_leave_stack

# Where a context of make_context() begins.
.p2align 4
.globl weft_begin_stack
.hidden weft_begin_stack
.type weft_begin_stack, @function
weft_begin_stack:
  .cfi_startproc
  .cfi_undefined %rip
  movq %r12, %rdi
  callq *%rbx
  ud2
  .cfi_endproc
.size weft_begin_stack, . - weft_begin_stack

.p2align 4
.globl weft_call_on_stack
.hidden weft_call_on_stack
.type weft_call_on_stack, @function
weft_call_on_stack:
  .cfi_startproc
  .cfi_undefined %rip
  pushq %rbp
  movq %rsp, %rbp
  movq %rdi, %rsp
  movq %rdx, %rdi
  callq *%rsi
  movq %rbp, %rsp
  popq %rbp
  retq
  .cfi_endproc
.size weft_call_on_stack, . - weft_call_on_stack

# 202 is futex(2), 128 FUTEX_WAIT_PRIVATE, 129 FUTEX_WAKE_PRIVATE. The kernel keeps every register but
# rax, rcx and r11.
.p2align 4
.globl weft_park
.hidden weft_park
.type weft_park, @function
weft_park:
  .cfi_startproc
  weft_push_registers
  movq %rdi, %r12
  movq %rsi, %r13
  movq %rdx, %r14
  movq %rsp, (%r12)
  movl $1, (%r13)
  movq %r13, %rdi
  movl $129, %esi
  movl $1, %edx
  xorl %r10d, %r10d
  movl $202, %eax
  syscall
1:
  cmpl $0, (%r14)
  jne 2f
  movq %r14, %rdi
  movl $128, %esi
  xorl %edx, %edx
  xorl %r10d, %r10d
  movl $202, %eax
  syscall
  jmp 1b
2:
  movq (%r12), %rsp
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  weft_pop_registers
  .cfi_endproc
.size weft_park, . - weft_park
)");

extern "C" void weft_begin_stack();

namespace weft::executor {

void* make_context(std::uintptr_t top, void (*function)(void*), void* argument) noexcept {
  // In the order in which they are popped.
  struct Context {
    FloatControl control;
    std::uintptr_t r15, r14, r13;
    void* r12;
    void (*rbx)(void*);
    std::uintptr_t rbp;
    void (*next)();
  };
  static_assert(sizeof(Context) == 64);
  auto* const context = reinterpret_cast<Context*>(top - sizeof(Context));
  store_float_control(context->control);
  context->r12 = argument;
  context->rbx = function;
  context->rbp = 0;
  context->next = &weft_begin_stack;
  return context;
}

}  // namespace weft::executor
