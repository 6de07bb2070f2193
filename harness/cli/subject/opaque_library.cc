// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A library as its vendor ships it, without instrumentation, and what such libraries do that no
// scheduler sees.

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace opaque {

void read_from(int descriptor) {
  char byte = 0;
  if (read(descriptor, &byte, 1) < 0) return;
  asm volatile("" ::: "memory");  // no tail call: this frame stays
}

/// As the libraries do that come with locks of their own.
__attribute__((visibility("hidden"), noinline)) void futex_wait(const int* word, int value) {
  long result = SYS_futex;
  register const void* timeout asm("r10") = nullptr;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(word), "S"(FUTEX_WAIT), "d"(value), "r"(timeout)
               : "rcx", "r11", "memory");
}

void wait_for(const int* word) {
  while (*word == 0) futex_wait(word, 0);
}

void spin_on(const volatile bool* flag) {
  while (!*flag) {
  }
}

}  // namespace opaque
