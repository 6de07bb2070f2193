// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Boost.Lockfree: the queue and the stack for any number of threads, and the ring
// for one producer and one consumer, used as its manual says and with one producer
// too many.

#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <boost/lockfree/stack.hpp>
#include <thread>

#include <weft/scenario.h>

#include "scenarios/real/parcels.h"

namespace {

using parcels::parcel;
using parcels::Received;

WEFT_SCENARIO(boost_queue, {.name = "real/boost_queue.fixed",
                            .summary = "boost::lockfree::queue, two senders and two receivers",
                            .expect = weft::must_pass(),
                            .budget = 500}) {
  boost::lockfree::queue<int> queue(2);
  Received first;
  Received second;
  std::thread sender([&] { queue.push(parcel(1, 0)); });
  std::thread receiver([&] {
    for (int attempt = 0; attempt < 2; ++attempt) {
      if (int got = 0; queue.pop(got)) first.push_back(got);
    }
  });
  queue.push(parcel(2, 0));
  queue.push(parcel(2, 1));
  if (int got = 0; queue.pop(got)) second.push_back(got);
  sender.join();
  receiver.join();
  for (int got = 0; queue.pop(got);) second.push_back(got);
  parcels::assert_in_order(first);
  parcels::assert_in_order(second);
  first.insert(first.end(), second.begin(), second.end());
  parcels::assert_complete(first, {parcel(1, 0), parcel(2, 0), parcel(2, 1)});
}

WEFT_SCENARIO(boost_stack, {.name = "real/boost_stack.fixed",
                            .summary = "boost::lockfree::stack, two senders and two receivers",
                            .expect = weft::must_pass(),
                            .budget = 500}) {
  boost::lockfree::stack<int> stack(2);
  Received first;
  Received second;
  std::thread sender([&] { stack.push(parcel(1, 0)); });
  std::thread receiver([&] {
    for (int attempt = 0; attempt < 2; ++attempt) {
      if (int got = 0; stack.pop(got)) first.push_back(got);
    }
  });
  stack.push(parcel(2, 0));
  if (int got = 0; stack.pop(got)) second.push_back(got);
  stack.push(parcel(2, 1));
  sender.join();
  receiver.join();
  for (int got = 0; stack.pop(got);) second.push_back(got);
  first.insert(first.end(), second.begin(), second.end());
  parcels::assert_complete(first, {parcel(1, 0), parcel(2, 0), parcel(2, 1)});
}

using Ring = boost::lockfree::spsc_queue<int, boost::lockfree::capacity<2>>;

WEFT_SCENARIO(boost_spsc_fixed, {.name = "real/boost_spsc.fixed",
                                 .summary = "boost::lockfree::spsc_queue, a sender and a receiver",
                                 .expect = weft::must_pass(),
                                 .budget = 500}) {
  Ring ring;
  Received received;
  std::vector<int> sent;
  std::thread sender([&] {
    for (int nth = 0; nth < 4; ++nth) {
      if (ring.push(parcel(1, nth))) sent.push_back(parcel(1, nth));
    }
  });
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (int got = 0; ring.pop(got)) received.push_back(got);
  }
  sender.join();
  for (int got = 0; ring.pop(got);) received.push_back(got);
  parcels::assert_in_order(received);
  parcels::assert_complete(received, sent);
}

WEFT_SCENARIO(boost_spsc_buggy, {.name = "real/boost_spsc.buggy",
                                 .summary = "boost::lockfree::spsc_queue with two producers",
                                 .expect = weft::must_find("data_race", "assertion"),
                                 .budget = 500}) {
  Ring ring;
  std::thread sender([&] { ring.push(parcel(1, 0)); });
  ring.push(parcel(2, 0));
  sender.join();
  Received received;
  for (int got = 0; ring.pop(got);) received.push_back(got);
  parcels::assert_complete(received, {parcel(1, 0), parcel(2, 0)});
}

}  // namespace
