// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The operations as machine code. operations.cc is compiled twice, reporting to
// weft and to the genuine ThreadSanitizer; nothing else here is instrumented.
#pragma once

#include <pthread.h>

#include "scenarios/race_agreement/program.h"

namespace race_agreement {

/// A word to itself in each of ThreadSanitizer's eight-byte granules.
struct Word {
  alignas(8) int value = 0;
};

struct Memory {
  Word words[kWords];
  pthread_mutex_t mutexes[kMutexes] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
};

/// Everything but kSpawn and kJoin. Returns what was read, or 0. Touches no memory but the
/// operation's: `op` fits a register.
int perform(Memory& memory, Op op);

}  // namespace race_agreement
