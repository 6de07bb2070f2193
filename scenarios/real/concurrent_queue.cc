// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// moodycamel::ConcurrentQueue: any number of producers and consumers. Elements of
// one producer come out in order, those of several in any.

#include <concurrentqueue/concurrentqueue.h>
#include <thread>

#include <weft/scenario.h>

#include "scenarios/real/parcels.h"

namespace {

using parcels::parcel;
using parcels::Received;

WEFT_SCENARIO(concurrent_queue, {.name = "real/concurrent_queue.fixed",
                                 .summary = "moodycamel::ConcurrentQueue, two of each",
                                 .expect = weft::must_pass(),
                                 .budget = 500}) {
  moodycamel::ConcurrentQueue<int> queue(4);
  Received first;
  Received second;
  std::thread sender([&] { queue.enqueue(parcel(1, 0)); });
  std::thread receiver([&] {
    for (int attempt = 0; attempt < 2; ++attempt) {
      if (int got = 0; queue.try_dequeue(got)) first.push_back(got);
    }
  });
  queue.enqueue(parcel(2, 0));
  queue.enqueue(parcel(2, 1));
  if (int got = 0; queue.try_dequeue(got)) second.push_back(got);
  sender.join();
  receiver.join();
  for (int got = 0; queue.try_dequeue(got);) second.push_back(got);
  parcels::assert_in_order(first);
  parcels::assert_in_order(second);
  first.insert(first.end(), second.begin(), second.end());
  parcels::assert_complete(first, {parcel(1, 0), parcel(2, 0), parcel(2, 1)});
}

WEFT_SCENARIO(concurrent_queue_tokens, {.name = "real/concurrent_queue_tokens.fixed",
                                        .summary = "moodycamel::ConcurrentQueue with tokens",
                                        .expect = weft::must_pass(),
                                        .budget = 500}) {
  moodycamel::ConcurrentQueue<int> queue(4);
  Received received;
  std::thread sender([&] {
    const moodycamel::ProducerToken token(queue);
    for (int nth = 0; nth < 2; ++nth) queue.enqueue(token, parcel(1, nth));
  });
  {
    const moodycamel::ProducerToken token(queue);
    queue.enqueue(token, parcel(2, 0));
  }
  moodycamel::ConsumerToken token(queue);
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (int got = 0; queue.try_dequeue(token, got)) received.push_back(got);
  }
  sender.join();
  for (int got = 0; queue.try_dequeue(token, got);) received.push_back(got);
  parcels::assert_in_order(received);
  parcels::assert_complete(received, {parcel(1, 0), parcel(1, 1), parcel(2, 0)});
}

}  // namespace
