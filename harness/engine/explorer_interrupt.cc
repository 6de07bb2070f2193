// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/engine/explorer_interrupt.h"

#include <cstdint>
#include <ctime>

namespace weft::engine {
namespace {

int guards = 0;
volatile std::sig_atomic_t interrupted_once = 0;
volatile std::int64_t interrupted_at_ms = 0;

std::int64_t monotonic_ms() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

/// The first signal asks for an orderly end, one that comes later insists. timeout(1)
/// and some shells signal a process and its group, which is twice in a row: that is one.
extern "C" void on_interrupt(int number) {
  constexpr std::int64_t kOneAndTheSameMs = 500;
  const std::int64_t now = monotonic_ms();
  if (interrupted_once == 0) {
    interrupted_at_ms = now;
    interrupted_once = 1;
  } else if (now - interrupted_at_ms > kOneAndTheSameMs) {
    ::signal(number, SIG_DFL);
    ::raise(number);
  }
}

}  // namespace

InterruptGuard::InterruptGuard() {
  if (guards++ != 0) return;
  interrupted_once = 0;
  struct sigaction action {};
  action.sa_handler = on_interrupt;  // no SA_RESTART: poll() must return
  ::sigaction(SIGINT, &action, &old_int_);
  ::sigaction(SIGTERM, &action, &old_term_);
}

InterruptGuard::~InterruptGuard() {
  if (--guards != 0) return;
  ::sigaction(SIGINT, &old_int_, nullptr);
  ::sigaction(SIGTERM, &old_term_, nullptr);
}

bool InterruptGuard::interrupted() const noexcept { return interrupted_once != 0; }

}  // namespace weft::engine
