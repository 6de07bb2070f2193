// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// oneTBB: a queue and a hash table, all of whose work is done in its headers.

#include <oneapi/tbb/concurrent_hash_map.h>
#include <oneapi/tbb/concurrent_queue.h>
#include <string>
#include <thread>

#include <weft/scenario.h>

#include "scenarios/real/parcels.h"

namespace {

using parcels::parcel;
using parcels::Received;

WEFT_SCENARIO(tbb_queue, {.name = "real/tbb_queue.fixed",
                          .summary = "tbb::concurrent_queue, two senders and two receivers",
                          .expect = weft::must_pass(),
                          .budget = 500}) {
  tbb::concurrent_queue<int> queue;
  Received first;
  Received second;
  std::thread sender([&] { queue.push(parcel(1, 0)); });
  std::thread receiver([&] {
    for (int attempt = 0; attempt < 2; ++attempt) {
      if (int got = 0; queue.try_pop(got)) first.push_back(got);
    }
  });
  queue.push(parcel(2, 0));
  queue.push(parcel(2, 1));
  if (int got = 0; queue.try_pop(got)) second.push_back(got);
  sender.join();
  receiver.join();
  for (int got = 0; queue.try_pop(got);) second.push_back(got);
  parcels::assert_in_order(first);
  parcels::assert_in_order(second);
  first.insert(first.end(), second.begin(), second.end());
  parcels::assert_complete(first, {parcel(1, 0), parcel(2, 0), parcel(2, 1)});
}

WEFT_SCENARIO(tbb_hash_map, {.name = "real/tbb_hash_map.fixed",
                             .summary = "tbb::concurrent_hash_map: counted under accessors",
                             .expect = weft::must_pass(),
                             .budget = 500}) {
  using Words = tbb::concurrent_hash_map<std::string, int>;
  Words words;
  const auto count = [&](const char* word) {
    Words::accessor entry;
    words.insert(entry, word);
    ++entry->second;
  };
  std::thread reader([&] {
    count("warp");
    count("weft");
  });
  count("weft");
  words.erase("warp");
  Words::const_accessor entry;
  if (words.find(entry, "weft")) assert(entry->second >= 1);
  entry.release();
  reader.join();
  assert(words.find(entry, "weft") && entry->second == 2);
  assert(words.size() <= 2);
}

}  // namespace
