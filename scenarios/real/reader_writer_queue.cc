// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// moodycamel::ReaderWriterQueue: one producer, one consumer, and then a consumer
// too many.

#include <readerwriterqueue/readerwriterqueue.h>
#include <thread>

#include <weft/scenario.h>

#include "scenarios/real/parcels.h"

namespace {

using parcels::parcel;
using parcels::Received;
using Queue = moodycamel::ReaderWriterQueue<int>;

WEFT_SCENARIO(reader_writer_queue_fixed,
              {.name = "real/reader_writer_queue.fixed",
               .summary = "moodycamel::ReaderWriterQueue, a sender and a receiver",
               .expect = weft::must_pass(),
               .budget = 500}) {
  Queue queue(1);  // the second parcel needs another block
  Received received;
  std::thread sender([&] {
    for (int nth = 0; nth < 3; ++nth) queue.enqueue(parcel(1, nth));
  });
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (int got = 0; queue.try_dequeue(got)) received.push_back(got);
  }
  sender.join();
  for (int got = 0; queue.try_dequeue(got);) received.push_back(got);
  parcels::assert_in_order(received);
  parcels::assert_complete(received, {parcel(1, 0), parcel(1, 1), parcel(1, 2)});
}

WEFT_SCENARIO(reader_writer_queue_buggy, {.name = "real/reader_writer_queue.buggy",
                                          .summary = "ReaderWriterQueue with two consumers",
                                          .expect = weft::must_find("data_race", "assertion"),
                                          .budget = 500}) {
  Queue queue(3);
  queue.enqueue(parcel(1, 0));
  queue.enqueue(parcel(1, 1));
  Received first;
  Received second;
  std::thread receiver([&] {
    if (int got = 0; queue.try_dequeue(got)) first.push_back(got);
  });
  if (int got = 0; queue.try_dequeue(got)) second.push_back(got);
  receiver.join();
  first.insert(first.end(), second.begin(), second.end());
  parcels::assert_complete(first, {parcel(1, 0), parcel(1, 1)});
}

}  // namespace
