// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A queue for one producer and one consumer, under schedules that libFuzzer invents. The buggy
// queue (WEFT_BUGGY) announces an item before it has written it. All is atomic, so that no race
// tells: the consumer must look in between.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

#include <weft/fuzz.h>

namespace {

class Queue {
 public:
  bool push(int value) {
    const std::size_t tail = tail_.load();
    if (tail - head_.load() == slots_.size()) return false;
#ifdef WEFT_BUGGY
    tail_.store(tail + 1);
    slots_[tail % slots_.size()].store(value);
#else
    slots_[tail % slots_.size()].store(value);
    tail_.store(tail + 1);
#endif
    return true;
  }

  bool pop(int& value) {
    const std::size_t head = head_.load();
    if (head == tail_.load()) return false;
    value = slots_[head % slots_.size()].load();
    head_.store(head + 1);
    return true;
  }

 private:
  std::array<std::atomic<int>, 2> slots_ = {};
  std::atomic<std::size_t> head_ = 0;
  std::atomic<std::size_t> tail_ = 0;
};

constexpr int kItems = 4;

void produce(Queue& queue) {
  for (int item = 1; item <= kItems; ++item) {
    while (!queue.push(item)) std::this_thread::yield();
  }
}

void consume(Queue& queue) {
  for (int item = 1; item <= kItems; ++item) {
    int got = 0;
    while (!queue.pop(got)) std::this_thread::yield();
    weft::always(got == item, "items come out as they went in");
  }
}

void pass_items() {
  Queue queue;
  std::thread producer([&] { produce(queue); });
  consume(queue);
  producer.join();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weft::fuzz_one(data, size, &pass_items, {.name = "fuzz/schedule"});
  return 0;
}
