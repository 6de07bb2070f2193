// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "lib/threads/inherited_state.h"

namespace weftrt {

// submit() or parallel_for() on a pool that was shut down.
class PoolShutDown : public std::logic_error {
 public:
  PoolShutDown();
};

// The pool was made before a fork() and is used in the child, which has none of its threads. Make a
// new one there; this one may be destroyed, and its queue is then dropped without being run.
class PoolLeftBehind : public std::logic_error {
 public:
  PoolLeftBehind();
};

// Threads that run work under the state of whoever submitted it: what capture_inherited_state()
// says on the submitting thread at that moment is in force around the work, and no longer. Between
// two pieces of work a pool's thread is as a raw one.
//
// Thread-safety: every member function may be called from any thread, those that wait not from work
// of the same pool, which is checked; the destructor when nobody else uses the pool any more.
//
// Invariants:
//  1. A piece of work runs once, or is dropped by cancel(); never both, never neither.
//  2. The work, its captures and the submitter's state are given up before its future is ready: on
//     the pool's thread if it ran, on the thread that cancelled if not.
//  3. Work is taken in the order in which it was submitted.
class ManagedPool {
 public:
  // Throws std::invalid_argument for no threads, and what std::thread throws.
  explicit ManagedPool(std::size_t threads);
  // As finish(). In a child of fork(), waits for nothing.
  ~ManagedPool();
  ManagedPool(const ManagedPool&) = delete;
  ManagedPool& operator=(const ManagedPool&) = delete;

  // What the work returns or throws is in the future. Throws PoolShutDown, PoolLeftBehind.
  template <std::invocable Work>
  [[nodiscard]] std::future<std::invoke_result_t<Work>> submit(Work work);

  // Calls `body(i)` once for each i in [first, last), in any order, on the calling thread and on
  // those of the pool that are free, in the state of the caller; returns when all calls have. May
  // be called from work of the same pool: the caller waits only for calls that have begun. The
  // first exception ends it, when calls that have begun are over, and is thrown here; further calls
  // may then be missing. Throws PoolShutDown, PoolLeftBehind. Each call costs a lock and an unlock
  // besides: let it do a fair share of the work.
  template <std::invocable<std::size_t> Body>
  void parallel_for(std::size_t first, std::size_t last, Body&& body) {
    // Called only until parallel_for_any() returns; its constness is the caller's.
    auto* const callee = std::addressof(body);
    parallel_for_any(first, last, [callee](std::size_t i) { std::invoke(*callee, i); });
  }

  // Takes no more work, runs what is queued, and ends the threads. May be called again.
  void finish();
  // Takes no more work, drops what is queued, and ends the threads when they have done what they
  // have begun. The futures of what is dropped throw std::future_error, broken_promise.
  void cancel();

 private:
  struct Core;
  class Job {
   public:
    virtual ~Job() = default;
    virtual void run() = 0;  // does not throw
  };
  template <class Result>
  class Submitted;
  class LoopShare;

  [[nodiscard]] Core& core_of_this_process() const;
  void enqueue(std::unique_ptr<Job> job);
  [[nodiscard]] bool offer(std::unique_ptr<Job> job);  // false: the pool is shut down
  void parallel_for_any(std::size_t first, std::size_t last,
                        const std::function<void(std::size_t)>& body);
  void end(bool run_queued);

  std::unique_ptr<Core> core_;
};

template <class Result>
class ManagedPool::Submitted : public Job {
 public:
  explicit Submitted(std::packaged_task<Result()> task) : task_(std::move(task)) {}
  void run() override { task_(); }

 private:
  std::packaged_task<Result()> task_;
};

template <std::invocable Work>
std::future<std::invoke_result_t<Work>> ManagedPool::submit(Work work) {
  using Result = std::invoke_result_t<Work>;
  std::packaged_task<Result()> task(
      [state = capture_inherited_state(), work = std::move(work)]() mutable -> Result {
        const InheritedStateGuard guard(std::exchange(state, {}));
        Work mine = std::move(work);  // gone before the future is ready
        return std::invoke(std::move(mine));
      });
  std::future<Result> result = task.get_future();
  enqueue(std::make_unique<Submitted<Result>>(std::move(task)));
  return result;
}

}  // namespace weftrt
