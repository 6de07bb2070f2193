// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ctrl-C during an exploration: an orderly end that loses no finding.
#pragma once

#include <csignal>

namespace weft::engine {

/// Catches SIGINT and SIGTERM for its lifetime. The first signal is only noted;
/// one that comes later acts as if nobody had caught it. The note is the process's,
/// as signals are: it lasts as long as the outermost guard, so that a command over
/// many explorations loses no signal between two.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  [[nodiscard]] bool interrupted() const noexcept;

 private:
  struct sigaction old_int_ {};
  struct sigaction old_term_ {};
};

}  // namespace weft::engine
