// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Whether a history of overlapping calls could have been made one at a time.
//
// A history is linearizable (Herlihy, Wing: 'Linearizability', TOPLAS 12(3), 1990) if each call can
// be given one instant between its invocation and its return such that a sequential object, asked
// in the order of those instants, gives every answer that was given. The search is that of Wing and
// Gong (JPDC 17, 1993) with Lowe's memoisation (CCPE 29(4), 2017): of the calls that no unplaced
// call returned before, place one that the model allows; go back where none is left; and never
// enter a (set of placed calls, state) twice. Deviation: a model is asked whether an answer is
// possible and moves on, instead of giving the answer.
//
// A Model has
//   using Call = ...;                             // arguments and answer of one call
//   bool apply(const Call&);                      // false: not in this state; the model is then
//   spent std::uint64_t state() const;                  // equal: the same future
// and is copied at every step of the search.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace weft::mixed {

/// A call with the instants at which it began and ended: any numbers that agree with real time, no
/// two equal.
template <class Call>
struct Timed {
  Call call;
  std::uint64_t invoked = 0;
  std::uint64_t returned = 0;
};

/// The longest history that is searched.
inline constexpr std::size_t kLongestHistory = 256;

template <class Model>
class LinearizabilitySearch {
 public:
  using Call = typename Model::Call;

  /// At most kLongestHistory calls.
  LinearizabilitySearch(Model initial, std::vector<Timed<Call>> history)
      : history_(std::move(history)) {
    std::sort(history_.begin(), history_.end(),
              [](const auto& a, const auto& b) { return a.invoked < b.invoked; });
    path_.push_back({std::move(initial), 0});
  }

  [[nodiscard]] bool succeeds() {
    if (history_.size() > kLongestHistory) return false;
    while (path_.size() <= history_.size()) {
      if (!place_one()) {
        if (path_.size() == 1) return false;
        placed_.flip(path_.back().placed);
        const std::size_t next = path_.back().placed + 1;
        path_.pop_back();
        path_.back().candidate = next;
      }
    }
    return true;
  }

 private:
  struct Placed {
    std::array<std::uint64_t, kLongestHistory / 64> words{};
    [[nodiscard]] bool has(std::size_t i) const { return (words[i / 64] >> i % 64 & 1U) != 0; }
    void flip(std::size_t i) { words[i / 64] ^= std::uint64_t{1} << i % 64; }
  };
  struct Step {
    Model model;            // after the calls placed so far
    std::size_t candidate;  // the first call to try next
    std::size_t placed = 0;
  };

  /// Places a call that may come next, from the step's candidate on; false where none is left.
  bool place_one() {
    Step& step = path_.back();
    // No later than the first return of those not placed.
    std::uint64_t first_return = ~std::uint64_t{0};
    for (std::size_t i = 0; i < history_.size(); ++i) {
      if (placed_.has(i)) continue;
      // By invocation: who begins after a return is behind it, and so are all others.
      if (history_[i].invoked > first_return) return false;
      first_return = std::min(first_return, history_[i].returned);
      if (i < step.candidate) continue;
      Model model = step.model;
      if (!model.apply(history_[i].call)) continue;
      placed_.flip(i);
      if (seen_.emplace(placed_.words, model.state()).second) {
        path_.push_back({std::move(model), 0, i});
        return true;
      }
      placed_.flip(i);
    }
    return false;
  }

  std::vector<Timed<Call>> history_;
  std::vector<Step> path_;
  Placed placed_;
  std::set<std::pair<std::array<std::uint64_t, kLongestHistory / 64>, std::uint64_t>> seen_;
};

template <class Model>
[[nodiscard]] bool linearizable(Model initial, std::vector<Timed<typename Model::Call>> history) {
  return LinearizabilitySearch<Model>(std::move(initial), std::move(history)).succeeds();
}

}  // namespace weft::mixed
