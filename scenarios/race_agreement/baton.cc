// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "scenarios/race_agreement/baton.h"

#include <linux/futex.h>
#include <sys/syscall.h>

namespace race_agreement {
namespace {

constexpr std::int32_t kEveryone = 0x7fffffff;

void futex(std::int32_t* word, int operation, std::int32_t value) {
  long result;
  register long timeout asm("r10") = 0;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(SYS_futex), "D"(word), "S"(operation), "d"(value), "r"(timeout)
               : "rcx", "r11", "memory");
}

}  // namespace

void Baton::await(std::int32_t position) {
  for (;;) {
    // acquire: pairs with the release in pass(), for this program's own sake
    const std::int32_t next = __atomic_load_n(&next_, __ATOMIC_ACQUIRE);
    if (next >= position) return;
    futex(&next_, FUTEX_WAIT_PRIVATE, next);
  }
}

void Baton::pass(std::int32_t position) {
  // release: pairs with the acquire in await()
  __atomic_store_n(&next_, position + 1, __ATOMIC_RELEASE);
  futex(&next_, FUTEX_WAKE_PRIVATE, kEveryone);
}

std::int32_t Baton::position() const { return __atomic_load_n(&next_, __ATOMIC_ACQUIRE); }

}  // namespace race_agreement
