// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A system call with nothing in between. libc's wrappers are names that the subject, a sanitizer or
// our own interposers may have replaced; and they set errno, which belongs to the task that runs.
#pragma once

#include <type_traits>

namespace weft {

namespace detail {
template <typename T>
long system_call_argument(T value) noexcept {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<long>(value);
  } else if constexpr (std::is_null_pointer_v<T>) {
    return 0;
  } else {
    return static_cast<long>(value);
  }
}
}  // namespace detail

// The kernel's result: a value, or a negated error number (see is_error). Arguments that are left
// out are zero.
template <typename A = long, typename B = long, typename C = long, typename D = long,
          typename E = long, typename F = long>
inline long system_call(long number, A a = {}, B b = {}, C c = {}, D d = {}, E e = {},
                        F f = {}) noexcept {
  long result;
  register long r10 asm("r10") = detail::system_call_argument(d);
  register long r8 asm("r8") = detail::system_call_argument(e);
  register long r9 asm("r9") = detail::system_call_argument(f);
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(detail::system_call_argument(a)),
                 "S"(detail::system_call_argument(b)), "d"(detail::system_call_argument(c)),
                 "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

// Addresses never fall into the last page.
inline bool is_error(long result) noexcept { return result < 0 && result >= -4095; }

}  // namespace weft
