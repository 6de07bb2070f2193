// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/base/lazy.h"

#include <stdexcept>

#include "lib/base/fork_epoch.h"

namespace weftrt::detail {
namespace {

constinit thread_local const FillOnce::Turn* t_turns = nullptr;  // innermost

}  // namespace

FillOnce::Turn::Turn(FillOnce& once) : once_(once) {
  const std::uint32_t filling = kFilling + fork_epoch();
  std::uint32_t seen = once.state_.load(std::memory_order_acquire);
  for (;;) {
    // acquire, here and above: pairs with the release in done().
    if (seen == kFilled) return;
    if (seen == filling) {
      for (const Turn* turn = t_turns; turn != nullptr; turn = turn->outer_)
        if (&turn->once_ == &once) throw std::logic_error("a lazy value asks for itself");
      once.state_.wait(seen, std::memory_order_acquire);
      seen = once.state_.load(std::memory_order_acquire);
    } else if (once.state_.compare_exchange_weak(seen, filling, std::memory_order_acquire,
                                                 std::memory_order_acquire)) {
      // It was empty, or its filler was left behind by a fork: of an earlier epoch.
      mine_ = true;
      outer_ = std::exchange(t_turns, this);
      return;
    }
  }
}

FillOnce::Turn::~Turn() {
  if (mine_) give_back(kEmpty);
}

void FillOnce::Turn::done() noexcept { give_back(kFilled); }

void FillOnce::Turn::give_back(std::uint32_t state) noexcept {
  mine_ = false;
  t_turns = outer_;
  // release: pairs with the acquires of filled() and of the next turn: what we made is seen whole.
  once_.state_.store(state, std::memory_order_release);
  once_.state_.notify_all();
}

}  // namespace weftrt::detail
