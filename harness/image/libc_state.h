// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What libc keeps of a program, outside the segments that are restored: the environment, the
// locale, the time zone.
//
// Thread-safety: one thread at a time, with no other in libc. The object itself must lie outside
// what is restored.
#pragma once

#include "harness/base/mapping.h"
#include "harness/image/saved_memory.h"

namespace weft::image {

class LibcState {
 public:
  // Remembers it. The environment moves to memory that is added to `memory`, which puts back what
  // is written there. Before `memory` and the segments are taken, for `environ` may be in one.
  void take(SavedMemory& memory) noexcept;

  // After that memory is restored.
  void restore() noexcept;

 private:
  void move_environment(SavedMemory& memory) noexcept;
  [[nodiscard]] bool time_zone_changed() const noexcept;

  Mapping environment_;  // the pointers, and the strings behind them
  char** variables_ = nullptr;
  char locale_[512] = {};  // of all categories
  long timezone_ = 0;
  int daylight_ = 0;
  const char* zone_names_[2] = {};
};

}  // namespace weft::image
