// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the stories about queues have in common: parcels with numbers, sent by
// senders and received by receivers, each of them once and those of one sender in
// order (where the container promises it).
#pragma once

#include <algorithm>
#include <cassert>
#include <vector>

namespace parcels {

/// Ten for each sender: 10, 11, ... are sender 1's.
inline int parcel(int sender, int nth) { return 10 * sender + nth; }

/// What one receiver got, in the order in which it did.
using Received = std::vector<int>;

inline void assert_in_order(const Received& received) {
  for (std::size_t i = 0; i < received.size(); ++i) {
    for (std::size_t j = i + 1; j < received.size(); ++j) {
      assert(received[i] / 10 != received[j] / 10 || received[i] < received[j]);
    }
  }
}

/// All that was sent, by whomever, and nothing twice.
inline void assert_complete(Received all, std::vector<int> sent) {
  std::sort(all.begin(), all.end());
  std::sort(sent.begin(), sent.end());
  assert(all == sent);
}

}  // namespace parcels
