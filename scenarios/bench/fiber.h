// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is possible at all: threads as bare C++20 coroutines under a scheduler
// that draws the next one at random before every synchronising operation.
//
// A program must be rewritten to run here, and nothing is recorded, named,
// detected or replayed. What an engine for unmodified code costs beyond this is
// the price of the rest.
//
// Thread-safety: none; one kernel thread.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

namespace weft::bench::fiber {

inline constexpr std::size_t kMaxThreads = 4;

class Loom;

/// Zero when whoever waits for it may go on: a mutex's owner, a thread's life, a
/// condition variable's waiter.
using Gate = std::uint32_t;

/// A coroutine that plays a thread. Its frame lies in the loom's arena.
struct Thread {
  struct promise_type;  // NOLINT(readability-identifier-naming): the language's name
  std::coroutine_handle<promise_type> handle;
};
using Body = Thread (*)(Loom&);

/// Suspends until the gate is open and the scheduler draws this thread.
struct Point {
  Loom& loom;
  const Gate& gate;

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> thread) const noexcept;
  void await_resume() const noexcept {}
};

struct Condition {
  Gate waiting[kMaxThreads] = {};  // by thread
};

class Loom {
 public:
  explicit Loom(std::uint64_t seed) noexcept : random_state_(seed) {}
  Loom(const Loom&) = delete;
  Loom& operator=(const Loom&) = delete;

  /// One execution: a thread that starts `bodies` and waits for them all. False
  /// when it deadlocked.
  [[nodiscard]] bool run(std::span<const Body> bodies) noexcept {
    count_ = arena_used_ = 0;
    start(start_and_join(*this, bodies));
    for (;;) {
      std::size_t enabled[kMaxThreads];
      std::size_t enabled_count = 0;
      for (std::size_t i = 0; i < count_; ++i) {
        enabled[enabled_count] = i;
        enabled_count += *gates_[i] == 0 ? 1 : 0;
      }
      if (enabled_count == 0) return alive_[0] == 0;
      running_ = enabled[enabled_count == 1 ? 0 : below(enabled_count)];
      threads_[running_].resume();
    }
  }

  // To be awaited before the operation named, which the thread performs itself.

  Point point() noexcept { return {*this, kOpen}; }
  Point lockable(const Gate& mutex) noexcept { return {*this, mutex}; }
  Point ended(std::size_t thread) noexcept { return {*this, alive_[thread]}; }
  Point signalled(Condition& condition) noexcept {
    condition.waiting[running_] = 1;
    return {*this, condition.waiting[running_]};
  }

  /// Wakes one waiter, drawn at random.
  void signal(Condition& condition) noexcept {
    Gate* waiters[kMaxThreads];
    std::size_t count = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      waiters[count] = &condition.waiting[i];
      count += condition.waiting[i] != 0 ? 1 : 0;
    }
    if (count != 0) *waiters[count == 1 ? 0 : below(count)] = 0;
  }

 private:
  friend struct Thread::promise_type;
  friend struct Point;

  static constexpr Gate kOpen = 0;
  static constexpr Gate kShut = 1;
  static constexpr std::size_t kArenaBytes = 4096;  // four frames of some 150 bytes, and room

  static Thread start_and_join(Loom& loom, std::span<const Body> bodies);
  void start(Thread thread) noexcept;

  /// Uniform below `bound` but for 2^-32: Lemire's multiplication of a splitmix64 draw.
  std::size_t below(std::size_t bound) noexcept {
    std::uint64_t z = random_state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<std::size_t>(((z >> 32) * bound) >> 32);
  }

  std::uint64_t random_state_;
  std::size_t count_ = 0;
  std::size_t running_ = 0;
  std::coroutine_handle<> threads_[kMaxThreads];
  const Gate* gates_[kMaxThreads] = {};  // what each thread waits for
  Gate alive_[kMaxThreads] = {};
  std::size_t arena_used_ = 0;
  alignas(std::max_align_t) std::byte arena_[kArenaBytes];
};

struct Thread::promise_type {
  template <class... Arguments>
  explicit promise_type(Loom& owner, const Arguments&...) noexcept : loom(owner) {}

  template <class... Arguments>
  static void* operator new(std::size_t bytes, Loom& loom, const Arguments&...) {
    constexpr std::size_t kAlignment = alignof(std::max_align_t);
    const std::size_t start = loom.arena_used_;
    loom.arena_used_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (loom.arena_used_ > Loom::kArenaBytes) std::abort();
    return loom.arena_ + start;
  }
  static void operator delete(void*) noexcept {}  // the next execution starts the arena anew

  Thread get_return_object() noexcept {
    return {std::coroutine_handle<promise_type>::from_promise(*this)};
  }
  std::suspend_always initial_suspend() const noexcept { return {}; }
  std::suspend_always final_suspend() const noexcept {
    loom.alive_[loom.running_] = 0;
    loom.gates_[loom.running_] = &Loom::kShut;
    return {};
  }
  void return_void() const noexcept {}
  void unhandled_exception() const noexcept { std::abort(); }

  Loom& loom;
};

inline void Point::await_suspend(std::coroutine_handle<> /*thread*/) const noexcept {
  loom.gates_[loom.running_] = &gate;
}

inline void Loom::start(Thread thread) noexcept {
  if (count_ == kMaxThreads) std::abort();
  threads_[count_] = thread.handle;
  gates_[count_] = &kOpen;
  alive_[count_] = 1;
  ++count_;
}

inline Thread Loom::start_and_join(Loom& loom, std::span<const Body> bodies) {
  for (const Body body : bodies) {
    co_await loom.point();
    loom.start(body(loom));
  }
  for (std::size_t i = 1; i <= bodies.size(); ++i) co_await loom.ended(i);
}

}  // namespace weft::bench::fiber
