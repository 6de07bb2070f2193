// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/threads/parallel_loop.h"

#include <utility>

namespace weftrt::detail {

void ParallelLoop::make_calls() noexcept {
  std::unique_lock lock(mutex_);
  while (next_ < last_) {
    const std::size_t i = next_++;
    lock.unlock();
    std::exception_ptr error;
    try {
      body_(i);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error == nullptr) continue;
    if (first_error_ == nullptr) first_error_ = std::move(error);
    next_ = last_;
  }
}

void ParallelLoop::help() {
  InheritedState state;
  {
    const std::lock_guard lock(mutex_);
    if (over_ || next_ >= last_) return;
    ++helpers_;
    state = state_;
  }
  {
    const InheritedStateGuard guard(std::exchange(state, {}));
    make_calls();
  }
  const std::lock_guard lock(mutex_);
  --helpers_;
  helpers_left_.notify_all();
}

void ParallelLoop::run() {
  make_calls();
  wait_for_helpers();
  // Nobody else is left.
  if (first_error_ != nullptr) std::rethrow_exception(std::exchange(first_error_, nullptr));
}

void ParallelLoop::wait_for_helpers() noexcept {
  InheritedState given_up;  // destroyed when the lock is not held
  std::unique_lock lock(mutex_);
  over_ = true;
  helpers_left_.wait(lock, [this] { return helpers_ == 0; });
  given_up = std::exchange(state_, {});
}

}  // namespace weftrt::detail
