// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Futexes, which libstdc++ reaches through syscall(2): atomic wait and notify,
// semaphores, latches, futures.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdarg>

#include "harness/intercept/outside.h"

namespace weft::intercept {
namespace {

long result_of(long raw) noexcept {
  if (raw >= 0 || raw < -4095) return raw;
  errno = static_cast<int>(-raw);
  return -1;
}

long raw_syscall(long number, const long (&a)[6]) noexcept {
  long result;
  register long r10 asm("r10") = a[3];
  register long r8 asm("r8") = a[4];
  register long r9 asm("r9") = a[5];
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

/// FUTEX_WAIT's time-out is relative; FUTEX_WAIT_BITSET's is absolute (futex(2)).
std::uint64_t deadline_of(Execution& execution, int op, int command,
                          const timespec* timeout) noexcept {
  if (timeout == nullptr) return trace::kNever;
  if (command == FUTEX_WAIT)
    return execution.time().now() + model::VirtualTime::to_nanoseconds(*timeout);
  const clockid_t clock = (op & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
  return model::VirtualTime::deadline(clock, *timeout);
}

long wait(Task& self, const int* word, int expected, std::uint32_t bits, std::uint64_t deadline,
          std::uintptr_t pc) noexcept {
  Operation compare = operation_on(OpKind::kFutexWait, word, pc);
  compare.width = sizeof *word;
  compare.argument = static_cast<std::uint32_t>(expected);
  announce(self, compare);
  const int seen = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  self.execution->yielded(self, static_cast<std::uint32_t>(seen));
  if (seen != expected) return -EAGAIN;
  Operation blocked = operation_on(OpKind::kFutexBlocked, word, pc);
  blocked.flags = bits;
  blocked.argument = compare.argument;
  blocked.deadline = deadline;
  announce(self, blocked);
  return self.timed_out ? -ETIMEDOUT : 0;
}

long wake(Task& self, const int* word, int most, std::uint32_t bits, std::uintptr_t pc) noexcept {
  Operation op = operation_on(OpKind::kFutexWake, word, pc);
  op.argument = static_cast<std::uint32_t>(most);
  announce(self, op);
  long woken = 0;
  while (woken < most) {
    Task* const waiter =
        self.execution->choose_waiter(self, OpKind::kFutexBlocked, op.address, bits);
    if (waiter == nullptr) break;
    self.execution->wake(*waiter, waiter->pending);
    ++woken;
  }
  self.execution->woke(self, op.address, static_cast<std::uint64_t>(woken));
  self.execution->yielded(self, static_cast<std::uint64_t>(woken));
  return woken;
}

long futex(Task& self, const long (&a)[6], std::uintptr_t pc) noexcept {
  const auto* const word = reinterpret_cast<const int*>(a[0]);
  const int op = static_cast<int>(a[1]);
  const int command = op & FUTEX_CMD_MASK;
  const int value = static_cast<int>(a[2]);
  // The command comes from the subject: an int, not an enumeration of ours.
  if (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) {
    return wait(self, word, value, command == FUTEX_WAIT ? ~0u : static_cast<std::uint32_t>(a[5]),
                deadline_of(*self.execution, op, command, reinterpret_cast<const timespec*>(a[3])),
                pc);
  }
  if (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET) {
    return wake(self, word, value, command == FUTEX_WAKE ? ~0u : static_cast<std::uint32_t>(a[5]),
                pc);
  }
  unsupported(self, "a futex operation other than wait and wake");
}

}  // namespace
}  // namespace weft::intercept

using namespace weft::intercept;

WEFT_INTERPOSE long syscall(long number, ...) noexcept {
  long arguments[6];
  va_list list;
  va_start(list, number);
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  Task* const self = current_task;
  if (self != nullptr && number == SYS_futex)
    return result_of(futex(*self, arguments, WEFT_CALLER));
  if (self != nullptr && number == SYS_getpid) return process_number();
  if (self != nullptr && number == SYS_gettid) return thread_number(*self);
  if (self != nullptr && number == SYS_getrandom) {
    random_bytes(*self, reinterpret_cast<void*>(arguments[0]),
                 static_cast<std::size_t>(arguments[1]), WEFT_CALLER);
    return arguments[1];
  }
  if (self != nullptr) {
    switch (number) {
      case SYS_fork:
      case SYS_vfork:
      case SYS_clone:
      case SYS_clone3: unsupported(*self, "a new process or thread by syscall()");
      case SYS_execve:
      case SYS_execveat: unsupported(*self, "execve by syscall()");
      default: break;  // a system call's number, not an enumeration of ours
    }
  }
  return result_of(raw_syscall(number, arguments));
}
