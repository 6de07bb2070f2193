// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Words in which glibc and the C++ ABI keep 'not yet, in progress, done'.
#pragma once

#include <pthread.h>

#include <cstdint>

namespace weft::model {

/// pthread_once_t, glibc 2.36 (nptl/pthread_once.c): bit 0 in progress, bit 1 done.
namespace once {
inline constexpr int kInProgress = 1;
inline constexpr int kDone = 2;
[[nodiscard]] inline int load(const pthread_once_t* word) noexcept {
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);  // pairs with the release in store()
}
[[nodiscard]] inline bool in_progress(const pthread_once_t* word) noexcept {
  return (load(word) & (kInProgress | kDone)) == kInProgress;
}
inline void store(pthread_once_t* word, int state) noexcept {
  __atomic_store_n(word, state,
                   __ATOMIC_RELEASE);  // pairs with load(): the initialiser's effects are visible
}
}  // namespace once

/// The guard of a magic static, Itanium C++ ABI 3.3.3: the first byte is 1 once
/// initialised (compiled code tests it); the second is the library's, 1 while
/// the initialiser runs, as in libstdc++.
namespace guard {
[[nodiscard]] inline bool is_done(const char* guard) noexcept {
  return __atomic_load_n(guard, __ATOMIC_ACQUIRE) != 0;  // pairs with the release in set_done()
}
[[nodiscard]] inline bool in_progress(const char* guard) noexcept {
  return !is_done(guard) && guard[1] != 0;
}
inline void set_in_progress(char* guard, bool value) noexcept { guard[1] = value ? 1 : 0; }
inline void set_done(char* guard) noexcept {
  guard[1] = 0;
  __atomic_store_n(guard, char{1},
                   __ATOMIC_RELEASE);  // pairs with compiled code's acquire of the first byte
}
}  // namespace guard

}  // namespace weft::model
