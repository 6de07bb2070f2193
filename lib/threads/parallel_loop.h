// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>

#include "lib/threads/inherited_state.h"

namespace weftrt::detail {

// One parallel_for(): the calls that are left to make, and who is making them. Its owner runs it;
// helpers come, or do not. Outlives its owner's part if a helper comes late, and then lets that
// helper touch nothing of its owner's.
//
// Thread-safety: help() may be called from any thread; run() and Ended are the owner's.
class ParallelLoop {
 public:
  // The state in which helpers call `body` is the calling thread's.
  ParallelLoop(std::size_t first, std::size_t last, const std::function<void(std::size_t)>& body)
      : body_(body), next_(first), last_(last), state_(capture_inherited_state()) {}

  // Makes calls until none is left to begin.
  void help();
  // The same, without changing state; then waits for helpers, and throws what a call threw first.
  void run();

  // While it lives, helpers may begin; it ends when those that began have ended.
  class Ended {
   public:
    explicit Ended(ParallelLoop& loop) noexcept : loop_(loop) {}
    ~Ended() { loop_.wait_for_helpers(); }
    Ended(const Ended&) = delete;
    Ended& operator=(const Ended&) = delete;

   private:
    ParallelLoop& loop_;
  };

 private:
  void make_calls() noexcept;
  void wait_for_helpers() noexcept;

  const std::function<void(std::size_t)>& body_;  // the owner's: not touched once `over_`

  std::mutex mutex_;
  std::condition_variable helpers_left_;
  std::size_t next_;  // the first call that nobody has begun
  const std::size_t last_;
  std::size_t helpers_ = 0;  // that have begun and not ended
  bool over_ = false;        // no helper begins any more
  InheritedState state_;     // given up when it is over
  std::exception_ptr first_error_;
};

}  // namespace weftrt::detail
