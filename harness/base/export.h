// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The harness is compiled with everything hidden. What the program under test
// binds to (interposers, compiler callbacks, the api) is exported by name:
//
//   WEFT_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) { ... }
//
// cmake/link-object makes every other symbol local to libweft.
#pragma once

#define WEFT_EXPORT [[gnu::visibility("default")]]
