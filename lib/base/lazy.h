// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

namespace weftrt::detail {

// Whose turn it is to fill a value that is filled once. See Lazy.
class FillOnce {
 public:
  [[nodiscard]] bool filled() const noexcept {
    // acquire: pairs with the release in Turn::done(): the value is whole.
    return state_.load(std::memory_order_acquire) == kFilled;
  }

  // The calling thread's turn to fill, while it lives; without done(), the turn goes to another.
  class Turn {
   public:
    // Waits while another thread has the turn. Throws std::logic_error if that is the caller.
    explicit Turn(FillOnce& once);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    // False: it is filled, by another thread in the meantime.
    [[nodiscard]] bool mine() const noexcept { return mine_; }
    void done() noexcept;

   private:
    void give_back(std::uint32_t state) noexcept;

    FillOnce& once_;
    const Turn* outer_ = nullptr;  // the calling thread's other turn, of another value
    bool mine_ = false;
  };

 private:
  static constexpr std::uint32_t kEmpty = 0;
  static constexpr std::uint32_t kFilled = 1;
  // From here on: being filled, by a thread of the process whose fork_epoch() is what is above it.
  static constexpr std::uint32_t kFilling = 2;

  std::atomic<std::uint32_t> state_{kEmpty};
};

// A value that is made when it is first asked for, exactly once, however many threads ask first:
// one makes it and the others wait for it. Where making it throws, the exception is the caller's
// who made it, and one who waited, or who asks later, makes it again.
//
// Thread-safety: any thread. After fork(), a value that was being made by a thread that the child
// has not got is made anew by the child; nobody waits for the thread that is gone.
//
// Costs: once filled, one acquire load.
template <class T>
class Lazy {
 public:
  // `make` runs with no lock held, and may ask for other lazy values; asking for the one being made
  // throws std::logic_error.
  template <class Make>
  const T& get(Make&& make) const {
    if (!once_.filled()) [[unlikely]]
      fill(std::forward<Make>(make));
    return *value_;
  }

 private:
  template <class Make>
  void fill(Make&& make) const {
    FillOnce::Turn turn(once_);
    if (!turn.mine()) return;
    value_.emplace(std::forward<Make>(make)());
    turn.done();
  }

  mutable FillOnce once_;
  mutable std::optional<T> value_;
};

}  // namespace weftrt::detail
